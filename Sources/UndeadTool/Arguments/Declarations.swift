/// The declarations of a command that is being made. One thread makes and reads it.
final class Declarations: @unchecked Sendable {
  @TaskLocal static var current: Declarations?

  private(set) var all: [Declaration] = []
  private var checks: [() throws -> Void] = []
  private var title: String?

  static func of<Made: Command>(_ command: Made.Type) -> (Made, Declarations) {
    let declarations = Declarations()
    return ($current.withValue(declarations) { Made() }, declarations)
  }

  func add(_ declaration: Declaration) {
    declaration.title = title
    all.append(declaration)
  }

  /// Makes a group of them.
  func group<Group: ParsableArguments>(_ title: String?) -> Group {
    self.title = title
    defer { self.title = nil }
    let group = Group()
    checks.append(group.validate)
    return group
  }

  /// Checks the values of all groups.
  func validate() throws {
    for check in checks { try check() }
  }
}
