import UndeadHeap
import UndeadReport

extension HeapDiff {
  /// Compares two heaps.
  ///
  /// - Parameters:
  ///   - symbolizer: finds the names of code that the files do not bring; nil to look nothing up.
  package init(
    from old: LoadedHeap, to new: LoadedHeap, tool: LeakReport.Tool = .init(),
    using symbolizer: Symbolizer? = Symbolizer()
  ) {
    var builder = HeapDiffBuilder(old, new)
    self = builder.build(tool, symbolizer)
  }
}

/// Finds what grew between two heaps.
struct HeapDiffBuilder {
  private let old: GrowthSide
  private let new: GrowthSide
  private let names: GrowthNames
  private let isSameProcess: Bool
  private var pairing: HeapPairing?
  private let byType: GrowthTally
  private let byKey: GrowthTally
  private var turnoverOfType: [HeapDiff.Turnover] = []

  private static let containerLimit = 20
  private static let siteLimit = 20

  init(_ old: LoadedHeap, _ new: LoadedHeap) {
    var names = GrowthNames()
    self.old = GrowthSide(old, &names)
    self.new = GrowthSide(new, &names)
    self.names = names
    isSameProcess = HeapPairing.isPossible(old.file.snapshot, new.file.snapshot)
    (byType, byKey) = GrowthTally.count(self.old, self.new, names)
  }

  mutating func build(_ tool: LeakReport.Tool, _ symbolizer: Symbolizer?) -> HeapDiff {
    if isSameProcess { pair() }
    defer { pairing?.deallocate() }
    let entries = GrowthEntries(names, byKey, before: old, after: new)
    let groups = GrowthGroups(names, entries)
    var sites = GrowthSites(old, new, symbolizer)
    let (before, after) = (old.heap.file.snapshot, new.heap.file.snapshot)
    var diff = HeapDiff(
      tool: tool, process: LeakReport.Process(after), before: Self.moment(old), after: Self.moment(new),
      sameProcess: isSameProcess, growth: [], types: [], notes: Self.notes(before, after))
    if let pairing {
      diff.turnover = .init(came: pairing.cameCount, went: pairing.wentCount)
      diff.verdict = verdict(symbolizer)
      diff.resources = HeapDiff.resources(from: old.heap, to: new.heap, symbolizer)
    }
    diff.findings = HeapDiff.findings(from: old.heap, to: new.heap, symbolizer)
    let growth = GrowthBuilder(old, new, names, groups, byKey, pairing)
    diff.growth = growth.build(&sites)
    diff.types = types(&sites)
    diff.notes += sites.notes
    return diff
  }

  private func verdict(_ symbolizer: Symbolizer?) -> MemoryVerdict? {
    func verdict(_ side: GrowthSide) -> MemoryVerdict? {
      MemoryVerdict(side.heap, symbols: HeapSymbols(side.heap, symbolizer))
    }
    guard let before = verdict(old), let after = verdict(new) else { return nil }
    return after.since(before, files: (old.heap.file, new.heap.file))
  }

  private mutating func pair() {
    let pairing = HeapPairing(old, new)
    turnoverOfType = pairing.turnover(old, new, types: names.types.count).map { .init(came: $0.came, went: $0.went) }
    self.pairing = pairing
  }

  private static func moment(_ side: GrowthSide) -> HeapDiff.Moment {
    let heap = side.heap
    return HeapDiff.Moment(
      process: LeakReport.Process(heap.file.snapshot),
      generation: heap.file.snapshot.metadata("generation").flatMap(Int.init) ?? 0,
      blocks: .init(count: heap.graph.count, bytes: Int(clamping: heap.bytes)),
      residentBytes: heap.file.residentBytes)
  }

  /// What makes the comparison less sharp than it looks.
  private static func notes(_ old: Snapshot, _ new: Snapshot) -> [String] {
    var notes: [String] = []
    let (before, after) = (program(old), program(new))
    if before.name != after.name {
      notes.append("the files are of different programs, '\(before.name)' and '\(after.name)'")
    } else if !before.build.isEmpty, !after.build.isEmpty, before.build != after.build {
      notes.append("the files are of different builds of '\(after.name)': types and sites are matched by their names")
    }
    for (name, snapshot) in [("old", old), ("new", new)] where !snapshot.isComplete {
      notes.append("the \(name) file is incomplete: not everything could be looked at")
    }
    return notes
  }

  private static func program(_ snapshot: Snapshot) -> (name: String, build: String) {
    let path = snapshot.executablePath
    let module = snapshot.modules.first { $0.path == path }
    return (SymbolText.fileName(path), module?.buildID ?? "")
  }

  // MARK: Types

  private func types(_ sites: inout GrowthSites) -> [HeapDiff.TypeChange] {
    let changed = names.types.indices.filter { byType.before[$0] != byType.after[$0] }
    let order = changed.sorted { a, b in
      let (first, second) = (names.types[a], names.types[b])
      return (byType.bytes(b), byType.count(b), first.type, first.module ?? "")
        < (byType.bytes(a), byType.count(a), second.type, second.module ?? "")
    }
    var keysOfType: [[Int]] = Array(repeating: [], count: names.types.count)
    for (number, key) in names.keys.enumerated() { keysOfType[Int(key.type)].append(number) }
    let examples = new.examples(
      ofKeys: order.filter { byType.count($0) > 0 || byType.bytes($0) > 0 }.flatMap { keysOfType[$0] }, pairing)
    return order.map { type in
      var change = HeapDiff.TypeChange(
        type: names.types[type].type, module: names.types[type].module, before: byType.before[type],
        after: byType.after[type], turnover: isSameProcess ? turnoverOfType[type] : nil, containers: [], sites: [])
      guard byType.count(type) > 0 || byType.bytes(type) > 0 else { return change }
      change.containers = containers(keysOfType[type], examples, &sites)
      change.sites = sites.sites(ofType: UInt32(type)).prefix(Self.siteLimit).map(HeapDiff.Site.init)
      return change
    }
  }

  private func containers(
    _ keys: [Int], _ examples: [UInt32: Int], _ sites: inout GrowthSites
  ) -> [HeapDiff.Container] {
    let grown = keys.filter { byKey.count($0) > 0 || byKey.bytes($0) > 0 }.map {
      (key: $0, name: names.places[Int(names.keys[$0].place)])
    }
    let order = grown.sorted { a, b in
      (byKey.bytes(b.key), byKey.count(b.key), a.name.type, a.name.field)
        < (byKey.bytes(a.key), byKey.count(a.key), b.name.type, b.name.field)
    }
    return order.prefix(Self.containerLimit).map { entry in
      HeapDiff.Container(
        type: entry.name.type, field: entry.name.field, count: byKey.count(entry.key), before: byKey.before[entry.key],
        after: byKey.after[entry.key],
        retainPath: examples[UInt32(entry.key)].map { new.heap.retainPath(to: $0, sites.after.frames) } ?? [])
    }
  }
}

extension HeapDiff.Site {
  init(_ site: GrowthSites.Site) {
    self.init(before: site.before, after: site.after, allocation: site.allocation, margin: site.margin)
  }
}
