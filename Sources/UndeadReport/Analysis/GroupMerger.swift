import UndeadSystem

/// Brings the groups of several processes together and puts the worst first.
package struct GroupMerger {
  private var leakGroups: [String: Leak] = [:]
  private var knownGroups: [String: Leak] = [:]
  private var suspectGroups: [String: Suspect] = [:]
  private var aloneGroups: [String: KeptAlone] = [:]
  package private(set) var diagnostics: [Diagnostic] = []
  package private(set) var zombies: [Zombie] = []
  private var seen = Set<Diagnostic>()

  package init() {}

  mutating func add(_ analysis: ProcessAnalysis, isForked: Bool) {
    for leak in analysis.leaks { Self.merge(leak, into: &leakGroups) }
    for leak in analysis.knownLeaks { Self.merge(leak, into: &knownGroups) }
    for suspect in analysis.suspects { merge(suspect) }
    for kept in analysis.keptAlone { merge(kept) }
    if !isForked { add(analysis.zombies) }
    // A forked child has those of its parent too.
    for diagnostic in analysis.diagnostics where !isForked || seen.insert(diagnostic).inserted {
      seen.insert(diagnostic)
      diagnostics.append(diagnostic)
    }
  }

  /// Adds the groups of a report that was made elsewhere, or read from a file.
  package mutating func add(_ report: LeakReport) {
    for leak in report.leaks { Self.merge(leak, into: &leakGroups) }
    for leak in report.knownLeaks { Self.merge(leak, into: &knownGroups) }
    for suspect in report.suspects { merge(suspect) }
    for kept in report.keptAlone { merge(kept) }
    add(report.zombies)
    diagnostics += report.diagnostics
  }

  mutating func add(_ zombies: [Zombie]) {
    for zombie in zombies { merge(zombie) }
  }

  package var leaks: [Leak] { leakGroups.values.ordered(by: Self.worstFirst) }
  package var knownLeaks: [Leak] { knownGroups.values.ordered(by: Self.worstFirst) }
  package var suspects: [Suspect] {
    suspectGroups.values.ordered { a, b in
      (b.count, b.totalBytes, a.objects.first?.type ?? "", a.signature)
        < (a.count, a.totalBytes, b.objects.first?.type ?? "", b.signature)
    }
  }

  package var keptAlone: [KeptAlone] { aloneGroups.values.ordered(by: KeptAlone.mostFirst) }

  private static func worstFirst(_ a: Leak, _ b: Leak) -> Bool {
    (b.totalBytes, b.count, a.objects.first?.type ?? "", a.signature)
      < (a.totalBytes, a.count, b.objects.first?.type ?? "", b.signature)
  }

  private static func merge(_ leak: Leak, into groups: inout [String: Leak]) {
    guard var group = groups[leak.signature] else {
      groups[leak.signature] = leak
      return
    }
    group.count.addSaturating(UInt64(clamping: leak.count))
    group.objectCount.addSaturating(UInt64(clamping: leak.objectCount))
    group.totalBytes.addSaturating(UInt64(clamping: leak.totalBytes))
    if group.objects.count < LeakGroup.sampleLimit { group.objects += leak.objects }
    mergeAllocations(of: leak, into: &group)
    var types = Dictionary(group.alsoLeaked.map { ($0.type, $0) }) { first, _ in first }
    for other in leak.alsoLeaked {
      var total = types[other.type] ?? TypeCount(type: other.type, count: 0, bytes: 0)
      total.count.addSaturating(UInt64(clamping: other.count))
      total.bytes.addSaturating(UInt64(clamping: other.bytes))
      types[other.type] = total
    }
    group.alsoLeaked = types.values.ordered(by: TypeCount.mostBytesFirst)
    groups[leak.signature] = group
  }

  private static func mergeAllocations(of leak: Leak, into group: inout Leak) {
    var seen = Set(([group.allocation] + (group.otherAllocations ?? [])).map(\.callPath))
    let others = ([leak.allocation] + (leak.otherAllocations ?? [])).filter { seen.insert($0.callPath).inserted }
    guard !others.isEmpty else { return }
    // Paths that neither side shows are counted on both sides: an upper bound.
    let hidden = max(0, max(leak.allocationPaths ?? 1, 1) - 1 - (leak.otherAllocations?.count ?? 0))
    var paths = group.allocationPaths ?? 1
    paths.addSaturating(UInt64(clamping: others.count))
    paths.addSaturating(UInt64(clamping: hidden))
    group.allocationPaths = paths
    group.otherAllocations = Array(((group.otherAllocations ?? []) + others).prefix(Leak.otherAllocationLimit))
  }

  private mutating func merge(_ kept: KeptAlone) {
    if aloneGroups[kept.signature]?.add(kept) == nil { aloneGroups[kept.signature] = kept }
  }

  private mutating func merge(_ zombie: Zombie) {
    if let known = zombies.firstIndex(where: { $0.signature == zombie.signature }) {
      zombies[known].add(zombie)
    } else {
      zombies.append(zombie)
    }
  }

  private mutating func merge(_ suspect: Suspect) {
    if suspectGroups[suspect.signature]?.add(suspect) == nil { suspectGroups[suspect.signature] = suspect }
  }
}
