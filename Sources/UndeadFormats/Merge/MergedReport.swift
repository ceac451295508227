import UndeadReport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reports of many hosts, or of the parts of a test run, as one.
///
/// Encodes to the JSON of `Documentation/report-schema.md`, of the kind `mergedReport`.
package struct MergedReport: Codable, Sendable, Equatable {
  /// A group of findings, and on how many hosts it is.
  package struct Group: Codable, Sendable, Equatable {
    /// As in ``report``.
    package var signature: String
    /// The list of the report that it is in.
    package var list: List
    /// How many hosts have it.
    package var hosts: Int
    /// Their names; the first of them if there are many.
    package var hostNames: [String]
    /// Leaks, suspects or uses.
    package var count: HostValues
  }

  /// A list of a report.
  package enum List: String, Codable, Sendable, CaseIterable {
    case leaks, suspects, knownLeaks, zombies
  }

  /// Of the JSON; keys are only added within a version.
  package var schemaVersion = 1
  package var kind = "mergedReport"
  package var tool: LeakReport.Tool
  /// By name.
  package var hosts: [MergedHost]
  /// In the order of the report's lists.
  package var groups: [Group]
  /// All hosts together: counts and bytes are sums.
  package var report: LeakReport

  private static let mostHostNames = 10

  /// Merges reports; the same whatever their order.
  ///
  /// - Parameters:
  ///   - reports: the reports, each with its host and file.
  ///   - options: what is left out of the whole; groups are judged by their sums.
  ///   - tool: what is named as the maker of the merged report.
  package init(
    _ reports: [HostInput<LeakReport>], options: ReportOptions = ReportOptions(),
    tool: LeakReport.Tool = LeakReport.Tool()
  ) {
    let inputs = HostInputs(reports) { (try? JSONRenderer.encode($0)).map { $0.base64EncodedString() } ?? "" }
    self.tool = tool
    hosts = inputs.hosts
    report = Self.merged(inputs.inputs.map(\.value), tool)
    report.summary.notes = inputs.notes + Self.notes(inputs.inputs, hosts: hosts.count)
    report.apply(options)
    groups = Self.groups(inputs.inputs, report, hosts: hosts.count)
  }

  private static func merged(_ reports: [LeakReport], _ tool: LeakReport.Tool) -> LeakReport {
    var merger = GroupMerger()
    var merged = LeakReport(tool: tool, process: process(reports))
    for report in reports {
      merger.add(report)
      merged.summary.suppressed.addSaturating(UInt64(clamping: report.summary.suppressed))
      merged.summary.liveBlocks.addSaturating(UInt64(clamping: report.summary.liveBlocks))
      merged.summary.liveBytes.addSaturating(UInt64(clamping: report.summary.liveBytes))
      // Of many processes the one that stood still longest shows most.
      merged.summary.pauseMilliseconds = max(merged.summary.pauseMilliseconds, report.summary.pauseMilliseconds)
      merged.summary.scanMilliseconds = max(merged.summary.scanMilliseconds, report.summary.scanMilliseconds)
      merged.refutedLeaks += report.refutedLeaks
      if let earlier = report.summary.earlierChecks {
        merged.summary.earlierChecks = merged.summary.earlierChecks ?? EarlierChecks()
        merged.summary.earlierChecks?.add(earlier)
      }
      merged.summary.complete = merged.summary.complete && report.summary.complete
      merged.summary.add(report.summary.premises)
    }
    (merged.leaks, merged.knownLeaks, merged.suspects) = (merger.leaks, merger.knownLeaks, merger.suspects)
    merged.keptAlone = merger.keptAlone
    (merged.zombies, merged.diagnostics) = (merger.zombies, merger.diagnostics)
    return merged
  }

  /// What all processes have in common.
  private static func process(_ reports: [LeakReport]) -> LeakReport.Process {
    let paths = Set(reports.map(\.process.path)).sorted()
    return LeakReport.Process(
      path: paths.count == 1 ? paths[0] : paths.map(SymbolText.fileName).joined(separator: ", "),
      startedAt: reports.map(\.process.startedAt).filter { !$0.isEmpty }.min() ?? "",
      durationSeconds: reports.map(\.process.durationSeconds).max() ?? 0)
  }

  private static func notes(_ inputs: [HostInput<LeakReport>], hosts: Int) -> [String] {
    var notes: [String] = []
    var of: [String: Set<String>] = [:]
    for input in inputs {
      for note in input.value.summary.notes {
        if of[note] == nil { notes.append(note) }
        of[note, default: []].insert(input.host)
      }
    }
    let told = notes.map { note in
      let names = of[note, default: []].sorted()
      return names.count == hosts && hosts > 1
        ? "on all hosts: \(note)"
        : "on \(names.count > 3 ? "\(names.count) of \(hosts) hosts" : names.joined(separator: ", ")): \(note)"
    }
    return told + sameProcess(inputs)
  }

  /// Two looks at one process would count its leaks twice; reports of single findings (`--on-finding`) have nothing in common. Only
  /// a note: in containers many processes are number 1.
  private static func sameProcess(_ inputs: [HostInput<LeakReport>]) -> [String] {
    var groups: [[String]: [HostInput<LeakReport>]] = [:]
    for input in inputs {
      let process = input.value.process
      guard process.pid > 0, !process.startedAt.isEmpty else { continue }
      groups[[input.host, process.path, "\(process.pid)", process.startedAt], default: []].append(input)
    }
    return groups.values.filter { group in
      var seen = Set<String>()
      return !group.allSatisfy { input in
        let own = Set(List.allCases.flatMap { input.value.counts($0).map(\.signature) })
        defer { seen.formUnion(own) }
        return seen.isDisjoint(with: own)
      }
    }.map { $0.map(\.file).sorted() }.sorted { $0[0] < $1[0] }.map { files in
      "\(files.map { "'\($0)'" }.joined(separator: " and ")) seem to be of one process at different times: "
        + "what leaked in it counts more than once; give the newest one"
    }
  }

  /// How many hosts have a finding, by its signature.
  package var hostCounts: [String: Int] {
    Dictionary(groups.map { ($0.signature, $0.hosts) }, uniquingKeysWith: max)
  }

  private static func groups(
    _ inputs: [HostInput<LeakReport>], _ report: LeakReport, hosts: Int
  ) -> [Group] {
    var counts: [List: [String: [String: Int]]] = [:]
    for input in inputs {
      for list in List.allCases {
        for (signature, count) in input.value.counts(list) {
          counts[list, default: [:]][signature, default: [:]][input.host, default: 0]
            .addSaturating(UInt64(clamping: count))
        }
      }
    }
    return List.allCases.flatMap { list in
      var seen = Set<String>()
      return report.counts(list).map(\.signature).filter { seen.insert($0).inserted }.map { signature in
        let values = counts[list]?[signature] ?? [:]
        return Group(
          signature: signature, list: list, hosts: values.count,
          hostNames: Array(values.keys.sorted().prefix(mostHostNames)),
          count: HostValues(Array(values.values), hosts: hosts))
      }
    }
  }
}

extension LeakReport {
  /// Signatures and counts of a list, in its order.
  fileprivate func counts(_ list: MergedReport.List) -> [(signature: String, count: Int)] {
    switch list {
    case .leaks: leaks.map { ($0.signature, $0.count) }
    case .suspects: suspects.map { ($0.signature, $0.count) }
    case .knownLeaks: knownLeaks.map { ($0.signature, $0.count) }
    case .zombies: zombies.map { ($0.signature, $0.count) }
    }
  }
}
