import UndeadSystem

extension LeakReport {
  /// All groups of findings for which one thing is to blame, whatever the generic arguments and the tests.
  package struct Culprit: Codable, Sendable, Equatable {
    /// A test and what it made.
    package struct Share: Codable, Sendable, Equatable {
      /// Suite and function; nil for what belongs to no test.
      package var test: String?
      /// Number of leaks or suspects.
      package var count: Int
    }

    /// 16 hex digits, the same from run to run and machine to machine.
    package var signature: String
    /// Kind of the findings, as they have it themselves.
    package var kind: String
    /// Type that has the field, or of the object, without generic arguments.
    package var type: String
    /// The field that holds the reference, without indices; nil if a function is to blame.
    package var field: String?
    /// The function that made the object or in which the task waits; nil if a field is to blame.
    package var function: String?
    /// The dependency that all objects belong to: then the function is the user's that started it.
    package var package: String?
    /// What is to blame, in a few words: "`onEvent` of App.Probe".
    package var title: String
    /// Number of groups.
    package var groups: Int
    /// Leaks or suspects of all groups.
    package var count: Int
    /// Objects of all groups; nil for suspects.
    package var objectCount: Int?
    /// Bytes of all groups.
    package var totalBytes: Int
    /// The tests that made them, the most first; nil where findings are not grouped by tests.
    package var tests: [Share]?
    /// Signatures of the groups, the worst first.
    package var findings: [String]

    /// - Parameter findings: the groups, the worst first; not empty.
    init(_ blame: Blame, _ findings: [Finding]) {
      signature = blame.signature
      kind = blame.kind
      type = blame.type
      field = blame.field
      function = blame.function
      package = blame.package
      title = blame.title
      groups = findings.count
      (count, totalBytes) = (0, 0)
      for finding in findings {
        count.addSaturating(UInt64(clamping: finding.count))
        totalBytes.addSaturating(UInt64(clamping: finding.totalBytes ?? 0))
        guard let objects = finding.objectCount else { continue }
        objectCount = objectCount ?? 0
        objectCount?.addSaturating(UInt64(clamping: objects))
      }
      tests = Self.shares(findings)
      self.findings = findings.map(\.signature)
    }

    private static func shares(_ findings: [Finding]) -> [Share]? {
      guard findings.contains(where: { $0.test != nil }) else { return nil }
      var counts: [String?: Int] = [:]
      for finding in findings {
        counts[finding.test?.fullName, default: 0].addSaturating(UInt64(clamping: finding.count))
      }
      return counts.map { Share(test: $0.key, count: $0.value) }.ordered { a, b in
        // Those of no test come last.
        (a.test == nil ? 1 : 0, b.count, a.test ?? "") < (b.test == nil ? 1 : 0, a.count, b.test ?? "")
      }
    }
  }
}
