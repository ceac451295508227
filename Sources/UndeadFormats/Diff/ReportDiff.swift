import UndeadReport

/// What changed between two reports of a program, by the signatures of the groups.
package struct ReportDiff: Codable, Sendable, Equatable {
  /// What changed in one kind of findings.
  package struct Findings<Finding: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
    /// Groups only of the new report, in its order.
    package var new: [Finding] = []
    /// Groups only of the old report, in its order.
    package var gone: [Finding] = []
    /// Groups with more objects or uses than before.
    package var grown: [Growth<Finding>] = []
    /// Groups with fewer than before.
    package var shrunk: [Growth<Finding>] = []
    /// Number of groups with as many as before.
    package var unchanged = 0

    /// True if there is anything that the old report did not have.
    package var isWorse: Bool { !new.isEmpty || !grown.isEmpty }
  }

  /// A group that both reports have.
  package struct Growth<Finding: Codable & Sendable & Equatable>: Codable, Sendable, Equatable {
    /// Signature of the group.
    package var signature: String
    /// How many there are in the old report.
    package var oldCount: Int
    /// How many there are in the new report.
    package var newCount: Int
    /// The group of the new report.
    package var finding: Finding
  }

  /// A group of leaks that both reports have.
  package struct Change: Codable, Sendable, Equatable {
    /// Signature of the group.
    package var signature: String
    /// Leaks in the old report.
    package var oldCount: Int
    /// Leaks in the new report.
    package var newCount: Int
    /// The group of the new report.
    package var leak: LeakReport.Leak

    fileprivate init(_ growth: Growth<Leak>) {
      signature = growth.signature
      oldCount = growth.oldCount
      newCount = growth.newCount
      leak = growth.finding
    }
  }

  /// The version of the JSON schema of the groups.
  package var schemaVersion = LeakReport.schemaVersion
  /// Groups of leaks only of the new report, the worst first.
  package var new: [LeakReport.Leak]
  /// Groups of leaks only of the old report, the worst first.
  package var gone: [LeakReport.Leak]
  /// Groups with more leaks than before.
  package var grown: [Change]
  /// Groups with fewer leaks than before.
  package var shrunk: [Change]
  /// Number of groups with as many leaks as before.
  package var unchanged: Int
  /// What changed in the suspects.
  package var suspects: Findings<LeakReport.Suspect>
  /// What changed in the zombies.
  package var zombies: Findings<LeakReport.Zombie>
  /// What changed in the leaks of the toolchain.
  package var knownLeaks: Findings<LeakReport.Leak>
  /// False if one of the checks was incomplete: what is missing in a report may be there all the same.
  package var complete: Bool
  /// What the reader must know, one sentence each.
  package var notes: [String]

  /// Compares two reports; their order and the addresses in them do not matter.
  ///
  /// - Parameters:
  ///   - old: the earlier report.
  ///   - new: the later report.
  ///   - minCount: groups that have fewer in both reports are left out.
  package init(from old: LeakReport, to new: LeakReport, minCount: Int = 1) {
    let leaks = Findings(from: old.leaks, to: new.leaks, minCount, count: \.count, signature: \.signature)
    (self.new, gone, unchanged) = (leaks.new, leaks.gone, leaks.unchanged)
    grown = leaks.grown.map { Change($0) }
    shrunk = leaks.shrunk.map { Change($0) }
    suspects = Findings(from: old.suspects, to: new.suspects, minCount, count: \.count, signature: \.signature)
    zombies = Findings(from: old.zombies, to: new.zombies, 1, count: \.count, signature: \.signature)
    knownLeaks = Findings(from: old.knownLeaks, to: new.knownLeaks, 1, count: \.count, signature: \.signature)
    complete = old.summary.complete && new.summary.complete
    notes = Self.notes(on: old, "old", "what is new may have been there before")
    notes += Self.notes(on: new, "new", "what is gone may be there still")
  }

  private static func notes(on report: LeakReport, _ name: String, _ consequence: String) -> [String] {
    guard !report.summary.complete else { return [] }
    return ["the \(name) report is incomplete: \(consequence)"] + report.summary.notes.map { "\(name) report: \($0)" }
  }

  /// True if the new report holds more than the old one of what the given conditions call a failure.
  package func fails(on conditions: Set<FailureCondition> = FailureCondition.standard) -> Bool {
    conditions.contains { condition in
      switch condition {
      case .leaks: !new.isEmpty || !grown.isEmpty
      case .suspects: suspects.isWorse
      case .known: knownLeaks.isWorse
      case .zombies: zombies.isWorse
      case .incomplete: !complete
      }
    }
  }
}

extension ReportDiff.Findings {
  fileprivate init(
    from old: [Finding], to new: [Finding], _ minCount: Int, count: (Finding) -> Int, signature: (Finding) -> String
  ) {
    let before = Dictionary(old.map { (signature($0), count($0)) }) { $0.addingReportingOverflow($1).partialValue }
    let after = Set(new.map(signature))
    for finding in new {
      let (signature, newCount) = (signature(finding), count(finding))
      let oldCount = before[signature] ?? 0
      guard max(oldCount, newCount) >= minCount else { continue }
      let growth = ReportDiff.Growth(
        signature: signature, oldCount: oldCount, newCount: newCount, finding: finding)
      switch oldCount {
      case 0: self.new.append(finding)
      case newCount: unchanged += 1
      case ..<newCount: grown.append(growth)
      default: shrunk.append(growth)
      }
    }
    gone = old.filter { !after.contains(signature($0)) && count($0) >= minCount }
  }
}
