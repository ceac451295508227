/// What the toolchain's libraries declare, by their names: nobody but the toolchain can change it.
enum ToolchainModules {
  private static let modules: Set<Substring> = [
    "Swift", "Dispatch", "Distributed", "Foundation", "FoundationEssentials", "FoundationInternationalization",
    "FoundationNetworking", "FoundationXML", "Observation", "RegexBuilder", "Synchronization", "Testing", "XCTest",
    "_Concurrency", "_Differentiation", "_RegexParser", "_StringProcessing",
  ]

  /// True for the name of a type of one of them.
  static func declare(_ type: String) -> Bool {
    type.hasPrefix("dispatch ") || modules.contains(type.prefix { $0 != "." })
  }

  /// True for the text of a function of one of them, wherever it is linked into.
  static func define(_ function: Substring) -> Bool { modules.contains(function.prefix { $0 != "." }) }
}
