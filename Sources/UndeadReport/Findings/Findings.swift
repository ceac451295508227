/// A report as every renderer tells it: by culprit, the worst first.
public struct Findings: Sendable, Equatable {
  /// What one thing is to blame for.
  public struct Group: Sendable, Equatable {
    /// The sums.
    public var culprit: Culprit
    /// The groups of the report, the worst first; not empty.
    public var findings: [Finding]

    /// The group that is told in full.
    public var worst: Finding { findings[0] }
  }

  /// Leaks by culprit, the most bytes first.
  public var leaks: [Group]
  /// Suspects by culprit, the most first.
  public var suspects: [Group]
  /// Uses of dead objects, as the report has them.
  public var zombies: [Finding]
  /// Leaks of the toolchain, as the report has them.
  public var knownLeaks: [Finding]

  /// Makes the findings of a report.
  public init(_ report: LeakReport) {
    leaks = Self.groups(report.leaks.map { Finding($0) }) { ($0.bytes, $0.count) }
    suspects = Self.groups(report.suspects.map { Finding($0) }) { ($0.count, $0.bytes) }
    zombies = report.zombies.map { Finding($0) }
    knownLeaks = report.knownLeaks.map { Finding($0) }
  }

  /// What says how bad something is.
  private struct Weight {
    var bytes: Int
    var count: Int
  }

  private static func groups(_ findings: [Finding], by weight: (Weight) -> (Int, Int)) -> [Group] {
    var groups: [String: [Finding]] = [:]
    for finding in findings {
      if let signature = finding.culprit?.signature { groups[signature, default: []].append(finding) }
    }
    func key(_ finding: Finding) -> (Int, Int, String, String) {
      let (first, second) = weight(Weight(bytes: finding.totalBytes ?? 0, count: finding.count))
      return (-first, -second, finding.objects.first?.type ?? "", finding.signature)
    }
    func key(_ group: Group) -> (Int, Int, String, String) {
      let (first, second) = weight(Weight(bytes: group.culprit.totalBytes, count: group.culprit.count))
      return (-first, -second, group.worst.objects.first?.type ?? "", group.culprit.signature)
    }
    return groups.values.compactMap { findings in
      let sorted = findings.sorted { key($0) < key($1) }
      return sorted[0].culprit.map { Group(culprit: Culprit($0, sorted), findings: sorted) }
    }.sorted { key($0) < key($1) }
  }
}

extension LeakReport {
  /// What is to blame for the leaks, then for the suspects, the worst first.
  public var culprits: [Culprit] {
    let findings = Findings(self)
    return (findings.leaks + findings.suspects).map(\.culprit)
  }
}
