import UndeadSystem

/// A report as every renderer tells it: by culprit, the worst first.
package struct Findings: Sendable, Equatable {
  /// What one thing is to blame for.
  package struct Group: Sendable, Equatable {
    /// The sums.
    package var culprit: Culprit
    /// The groups of the report, the worst first; not empty.
    package var findings: [Finding]

    /// The group that is shown in full.
    package var worst: Finding { findings[0] }

    /// What happened, in a few words, as if it happened once.
    package var title: String {
      guard findings.count > 1 else { return worst.title }
      let common = TypeName.unspecialized(worst.title)
      if culprit.package == nil, worst.cause != Leak.Kind.abandoned.rawValue,
        findings.allSatisfy({ TypeName.unspecialized($0.title) == common })
      {
        return common
      }
      if culprit.package != nil { return "\(culprit.title), which was never ended" }
      return switch worst.cause {
      case Leak.Kind.retainCycle.rawValue: "retain cycles through \(culprit.title)"
      case Leak.Kind.unreferenced.rawValue: "\(culprit.title), which nothing refers to"
      case Leak.Kind.abandoned.rawValue: "objects that outlive their scopes: \(culprit.title) holds them"
      case Suspect.Kind.thread.rawValue:
        "retain cycles through \(culprit.title), held only by a word on a thread's stack"
      default:
        SuspectWords.of(Suspect.Kind(rawValue: worst.cause))?.several
          ?? "objects of \(culprit.type) held only by what they hold themselves in \(culprit.title)"
      }
    }

    /// "retain cycle of App.Owner, 3 times".
    package var heading: String { title + (culprit.count == 1 ? "" : ", \(culprit.count) times") }

    /// "3 objects, 96 bytes".
    package var size: String { Quantity.size(objects: culprit.objectCount, bytes: culprit.totalBytes) ?? "" }
  }

  /// Leaks by culprit, the most bytes first.
  package var leaks: [Group]
  /// Suspects by culprit, the most first.
  package var suspects: [Group]
  /// Uses of dead objects, as the report has them.
  package var zombies: [Finding]
  /// Leaks of the toolchain, as the report has them.
  package var knownLeaks: [Finding]

  /// What was dropped, not listed or suppressed; notes of one kind are one.
  package var notes: [String]

  /// Makes the findings of a report.
  ///
  /// - Parameters:
  ///   - report: the report.
  ///   - byCulprit: false for a group of its own for each finding.
  package init(_ report: LeakReport, byCulprit: Bool = true) {
    // Said once, and not in each group.
    let isBare = report.summary.notes.contains(LeakReport.noBacktraces)
    leaks = Self.groups(leaks: report.leaks, byCulprit: byCulprit, isBare: isBare)
    suspects = Self.groups(suspects: report.suspects, byCulprit: byCulprit, isBare: isBare)
    zombies = report.zombies.map { Finding($0) }
    knownLeaks = report.knownLeaks.map { Finding($0).shown(bare: isBare) }
    notes = NoteFolding.folded(report.summary.notes)
  }

  package static func groups(leaks: [Leak], byCulprit: Bool, isBare: Bool = false) -> [Group] {
    groups(leaks.map { Finding($0).shown(bare: isBare) }, byCulprit) { ($0.bytes, $0.count) }
  }

  package static func groups(suspects: [Suspect], byCulprit: Bool, isBare: Bool = false) -> [Group] {
    groups(suspects.map { Finding($0).shown(bare: isBare) }, byCulprit) { ($0.count, $0.bytes) }
  }

  /// What says how bad something is.
  private struct Weight {
    var bytes: Int
    var count: Int
  }

  private static func groups(
    _ findings: [Finding], _ byCulprit: Bool, weight: (Weight) -> (Int, Int)
  ) -> [Group] {
    var groups: [String: [Finding]] = [:]
    for (number, finding) in findings.enumerated() {
      guard let culprit = finding.culprit?.signature else { continue }
      groups[byCulprit ? culprit : "\(culprit) \(number)", default: []].append(finding)
    }
    func key(_ finding: Finding) -> (Int, Int, String, String) {
      let (first, second) = weight(Weight(bytes: finding.totalBytes ?? 0, count: finding.count))
      return (-first, -second, finding.objects.first?.type ?? "", finding.signature)
    }
    func key(_ group: Group) -> (Int, Int, String, String) {
      let (first, second) = weight(Weight(bytes: group.culprit.totalBytes, count: group.culprit.count))
      return (-first, -second, group.worst.objects.first?.type ?? "", group.culprit.signature)
    }
    let all = groups.values.compactMap { findings in
      let sorted = findings.ordered { key($0) < key($1) }
      return sorted[0].culprit.map { Group(culprit: Culprit($0, sorted), findings: sorted) }
    }
    return (byCulprit ? distinguished(all) : all).ordered { key($0) < key($1) }
  }
}

extension Findings {
  /// The groups with titles that distinguish them, where different closures are kept in one field.
  private static func distinguished(_ groups: [Group]) -> [Group] {
    let counts = groups.reduce(into: [:]) { $0[$1.culprit.title, default: 0] += 1 }
    return groups.map { group in
      guard counts[group.culprit.title] ?? 0 > 1, let target = group.worst.culprit?.target else { return group }
      var group = group
      group.culprit.title += ", which captures \(target)"
      return group
    }
  }

  /// What the groups after the first `top` amount to: "3 more leaks of 2 culprits (3 objects, 96 bytes)"; nil if there
  /// are none.
  package static func rest(_ groups: [Group], after top: Int, noun: String) -> String? {
    let rest = groups.dropFirst(max(0, top))
    guard !rest.isEmpty else { return nil }
    var (findings, bytes) = (0, 0)
    var objects: Int?
    for group in rest {
      findings += group.findings.count
      bytes.addSaturating(UInt64(clamping: group.culprit.totalBytes))
      guard let count = group.culprit.objectCount else { continue }
      objects = objects ?? 0
      objects?.addSaturating(UInt64(clamping: count))
    }
    let culprits = findings == rest.count ? "" : " of \(Quantity.of(rest.count, "culprit"))"
    let size = Quantity.size(objects: objects, bytes: bytes) ?? ""
    return "\(Quantity.of(findings, "more \(noun)"))\(culprits) (\(size))"
  }
}

extension LeakReport {
  /// What is to blame for the leaks, then for the suspects, the worst first.
  package var culprits: [Culprit] {
    let findings = Findings(self)
    return (findings.leaks + findings.suspects).map(\.culprit)
  }
}

extension Finding {
  /// The finding without unknown places, if none is known.
  fileprivate func shown(bare: Bool) -> Finding {
    guard bare else { return self }
    var finding = self
    finding.sites.removeAll { $0.role == .allocated && $0.frame == nil }
    return finding
  }
}
