import UndeadSystem

/// The command that shows one finding alone.
enum NextStep {
  /// "undead test -- --filter 'AppTests.LoaderTests/testLoads'"; nil if no test is known to have made a finding.
  ///
  /// - Parameter tool: how the tool was called.
  static func text(_ findings: Findings, tool: String) -> String? {
    let groups = findings.leaks + findings.suspects
    guard let worst = groups.lazy.flatMap(\.findings).compactMap(\.test).first else { return nil }
    let all = Set(groups.flatMap(\.findings).compactMap(\.test?.fullName))
    let command = "\(tool) test -- --filter '\(filter(worst))'"
    return all.count == 1 ? command : command + "  (the worst of \(Quantity.of(all.count, "test")))"
  }

  /// The regular expression that selects a test.
  private static func filter(_ test: TestIdentity) -> String {
    // Arguments are in brackets, which would be a group of the expression.
    let name = test.name == TestIdentity.initializer ? "" : test.name.prefix { $0 != "(" }
    // As `swift test list` writes it: a function outside of types follows its module with a point.
    let separator = test.suite.contains(".") ? "/" : "."
    var text = ""
    // Names in backticks may have any of these; a point matches itself as well.
    for character in test.suite + separator + name {
      if "\\+*?[]{}|^$".contains(character) { text.append("\\") }
      text.append(character)
    }
    return text.replacing("'", with: "'\\''")
  }
}
