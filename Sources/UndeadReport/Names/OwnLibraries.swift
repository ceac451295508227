import CUndeadInterface

/// This package's own libraries, which are linked into the programs that use them: neither the program's nor the
/// toolchain's.
enum OwnLibraries {
  private static let modules = UNDEAD_OWN_MODULES.split(separator: " ").map { "\($0)." }

  /// True for the name of a type that one of them declares.
  static func declare(_ type: String) -> Bool {
    type.hasPrefix("Undead") && modules.contains(where: type.hasPrefix)
  }

  /// True for a function of one of them.
  static func define(_ symbol: String) -> Bool {
    let name = FunctionName(symbol)
    return [name.extender, name.module].contains { $0.map { declare("\($0).") } ?? false }
  }
}
