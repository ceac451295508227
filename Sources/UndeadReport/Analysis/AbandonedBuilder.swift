import UndeadSystem

/// Turns the watched objects of a snapshot that something still reaches into groups with retain paths and advice.
final class AbandonedBuilder {
  private let snapshot: Snapshot
  private let paths: RetainPaths
  private let ways: Ways
  private let counts: ReferenceCounts
  private let chain: ReferenceChain
  /// What fires or waits and alone holds an object, by object.
  private let mechanisms: [Snapshot.Index: Snapshot.Index]
  private let names: NodeNames
  private let frames: FrameNames

  init(_ snapshot: Snapshot, ways: Ways, counts: ReferenceCounts, names: NodeNames, frames: FrameNames) {
    self.snapshot = snapshot
    self.ways = ways
    self.counts = counts
    chain = ReferenceChain(snapshot)
    let suspects = snapshot.suspects.filter { !$0.isOfFrame && $0.mechanism != Snapshot.none }
    mechanisms = Dictionary(suspects.map { ($0.node, $0.mechanism) }) { first, _ in first }
    self.names = names
    self.frames = frames
    paths = RetainPaths(snapshot)
  }

  /// - Parameter isExcluded: shows the objects that another process's report has already.
  func build(isExcluded: (Int) -> Bool) -> [Leak] {
    var records = reachable().filter { !isExcluded(Int($0.node)) }
    frames.sortByStack(&records) { [snapshot] in snapshot.nodes[Int($0.node)].stack }
    let watched = Set(records.map(\.node))
    var groups: [String: Leak] = [:]
    var order: [String] = []
    var signatures: [Snapshot.Index: String] = [:]
    var held: [(record: Snapshot.WatchedRecord, by: Snapshot.Index)] = []
    for record in records {
      // What another one of them holds goes when that one goes.
      if let holder = holder(of: record, among: watched) {
        held.append((record, holder))
        continue
      }
      let leak = leak(record)
      signatures[record.node] = leak.signature
      guard var group = groups[leak.signature] else {
        groups[leak.signature] = leak
        order.append(leak.signature)
        continue
      }
      group.count += 1
      group.objectCount += 1
      group.totalBytes.addSaturating(UInt64(leak.totalBytes))
      if group.objects.count < LeakGroup.sampleLimit { group.objects += leak.objects }
      groups[leak.signature] = group
    }
    for (record, holder) in held {
      if let signature = signatures[holder] { groups[signature].map { groups[signature] = adding(record, to: $0) } }
    }
    return order.compactMap { groups[$0] }
  }

  /// Each object once, as the first of its scopes shows it.
  private func reachable() -> [Snapshot.WatchedRecord] {
    var seen = Set<Snapshot.Index>()
    return snapshot.watched.filter { record in
      let state = snapshot.nodes[Int(record.node)].state
      return state != .leaked && state != .raw && seen.insert(record.node).inserted
    }
  }

  /// The watched object nearest to the root on the way to another one.
  private func holder(of record: Snapshot.WatchedRecord, among watched: Set<Snapshot.Index>) -> Snapshot.Index? {
    paths.edges(of: record.path).lazy.map { [snapshot] in snapshot.edges[$0].from }.first {
      $0 != record.node && watched.contains($0)
    }
  }

  private func leak(_ record: Snapshot.WatchedRecord) -> Leak {
    let node = Int(record.node)
    let block = snapshot.nodes[node]
    let path =
      record.path == Snapshot.none
      ? nil : paths.steps(root: record.path, paths.edges(of: record.path), to: node, names, frames)
    let scope = Leak.Scope(name: snapshot.strings[record.scope], backtrace: frames.scopeEnd(record.stack))
    let allocation = frames.backtrace(block.stack)
    let test = frames.tests?.test(
      stacks: [allocation, scope.backtrace], references: (path ?? []).map(\.reference))
    let own = ownCycle(record)
    let cycle = own?.references ?? cycle(record)
    var leak = Leak(
      signature: signature(node, path, scope: scope.name, test), kind: .abandoned,
      totalBytes: Int(clamping: block.size), objects: [LeakedObject(block, type: names.type(of: node))],
      cycle: cycle.isEmpty ? nil : cycle, retainPath: path, scope: scope, allocation: allocation,
      advice: path.flatMap { Advice.text(for: $0, inCycle: own) }, test: test)
    leak.references = counts.references(to: node, names, frames)
    return leak
  }

  /// The way from the object to the timer or the like that holds it, and back; empty if it does not lead there.
  private func cycle(_ record: Snapshot.WatchedRecord) -> [Reference] {
    let node = Int(record.node)
    let onPath = paths.edges(of: record.path).map { Int(snapshot.edges[$0].from) }
      .last { paths.item($0) != nil }
    guard let holder = onPath ?? mechanisms[record.node].map(Int.init), holder != node else { return [] }
    let forth = ways.way(from: node, to: holder)
    let back = ways.way(from: holder, to: node)
    return forth.isEmpty || back.isEmpty ? [] : chain.references(forth + back, names, frames)
  }

  /// The cycle of an object that a thread owns as well: what would keep it when the call has ended.
  private func ownCycle(_ record: Snapshot.WatchedRecord) -> LeakFacts? {
    guard record.path != Snapshot.none, paths.isOfThread(record.path) else { return nil }
    let edges = ways.cycle(through: Int(record.node))
    guard !edges.isEmpty else { return nil }
    let nodes = edges.map { Int(snapshot.edges[$0].from) }
    var facts = LeakFacts(type: names.type(of: Int(record.node)))
    facts.isCycle = true
    facts.references = chain.references(edges, names, frames)
    facts.roles = Set(nodes.map(names.role(of:)))
    facts.types = Set(nodes.map(names.type(of:)))
    facts.suspended = nodes.lazy.map { [snapshot] in snapshot.nodes[$0].explanation }.first { $0 != Snapshot.none }
      .map { frames.backtrace($0) }
    return facts
  }

  private func signature(_ node: Int, _ path: [PathStep]?, scope: String, _ test: TestIdentity?) -> String {
    var hash = StableHash("abandoned")
    if let test { hash.mix(StableHash(test.fullName)) }
    hash.mix(names.typeHash(of: node))
    hash.mix(StableHash(scope))
    hash.mix(frames.allocationHash(snapshot.nodes[node].stack))
    if let root = path?.first?.root { hash.mix(Self.hash(of: root)) }
    for step in path ?? [] where !step.field.isEmpty {
      hash.mix(StableHash(step.type))
      hash.mix(StableHash(NodeNames.withoutIndices(step.field)))
    }
    return hash.hexadecimal
  }

  /// Threads, and loops that are named for them, have other numbers in every run.
  private static func hash(of root: PathStep.Root) -> StableHash {
    switch root.kind {
    case "global": StableHash("global " + SymbolText.fileName(root.name))
    case "runLoop": StableHash("runLoop " + root.name.filter { !$0.isNumber })
    default: StableHash("thread")
    }
  }

  private func adding(_ record: Snapshot.WatchedRecord, to group: Leak) -> Leak {
    var group = group
    let size = snapshot.nodes[Int(record.node)].size
    let type = names.type(of: Int(record.node))
    group.objectCount += 1
    group.totalBytes.addSaturating(size)
    var total = group.alsoLeaked.first { $0.type == type } ?? TypeCount(type: type, count: 0, bytes: 0)
    total.count += 1
    total.bytes.addSaturating(size)
    group.alsoLeaked.removeAll { $0.type == type }
    group.alsoLeaked.append(total)
    group.alsoLeaked = group.alsoLeaked.ordered(by: TypeCount.mostBytesFirst)
    return group
  }
}
