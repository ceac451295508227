import UndeadSystem

extension LeakReport {
  /// Brings the findings of each test together, in the order of the tests' names; those of no test come last.
  mutating func sortByTest() {
    leaks = Self.sorted(leaks, by: \.test)
    suspects = Self.sorted(suspects, by: \.test)
  }

  private static func sorted<Finding>(_ findings: [Finding], by test: KeyPath<Finding, TestIdentity?>) -> [Finding] {
    let keyed = findings.enumerated().map { number, finding in
      let identity = finding[keyPath: test]
      let hasNone = identity == nil ? 1 : 0
      return (key: (hasNone, identity?.suite ?? "", identity?.name ?? "", number), finding: finding)
    }
    return keyed.ordered { $0.key < $1.key }.map(\.finding)
  }
}
