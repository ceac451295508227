/// This package's own libraries, which are linked into the programs that use them: neither the program's nor the
/// toolchain's.
enum OwnLibraries {
  private static let modules = [
    "Undead.", "UndeadReport.", "UndeadRunLoop.", "UndeadRunLoopLogging.", "UndeadTesting.", "UndeadXCTest.",
  ]

  /// True for the name of a type that one of them declares.
  static func declare(_ type: String) -> Bool {
    type.hasPrefix("Undead") && modules.contains(where: type.hasPrefix)
  }

  /// True for a function of one of them, without what the compiler put before its name.
  static func define(_ function: Substring) -> Bool {
    var name = function
    if name.hasPrefix("(extension in "), let colon = name.firstIndex(of: ":") {
      let module = name.dropFirst("(extension in ".count).prefix { $0 != ")" }
      if declare(module + ".") { return true }
      name = name[name.index(after: colon)...]
    }
    if name.hasPrefix("closure #"), let place = name.ranges(of: " in ").last {
      name = name[place.upperBound...]
    }
    if name.hasPrefix("static ") { name = name.dropFirst("static ".count) }
    return declare(String(name.prefix(32)))
  }
}
