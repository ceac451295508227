import UndeadSystem

/// Counts the references to the objects of findings, and shows who holds them.
final class ReferenceCounts {
  private let snapshot: Snapshot
  private let chain: ReferenceChain
  /// References to node n that its count includes, and all to memory that has no count: `[first[n], first[n + 1])`.
  private let edges: [Int32]
  private let first: [Int32]

  init(_ snapshot: Snapshot, _ names: NodeNames) {
    self.snapshot = snapshot
    chain = ReferenceChain(snapshot)
    func isHolding(_ edge: Snapshot.Edge) -> Bool {
      edge.isCounted || (edge.isStrong && names.role(of: Int(edge.to)) == .memory)
    }
    var first = [Int32](repeating: 0, count: snapshot.nodes.count + 2)
    for edge in snapshot.edges where isHolding(edge) { first[Int(edge.to) + 2] += 1 }
    for node in first.indices.dropFirst() { first[node] += first[node - 1] }
    var edges = [Int32](repeating: 0, count: Int(first.last ?? 0))
    for (number, edge) in snapshot.edges.enumerated() where isHolding(edge) {
      edges[Int(first[Int(edge.to) + 1])] = Int32(number)
      first[Int(edge.to) + 1] += 1
    }
    (self.edges, self.first) = (edges, first)
  }

  private static let holderLimit = 8
  /// More are not looked at: an object may have a million.
  private static let edgeLimit = 1000
  private static let foldedLimit = 4

  private func holders(of node: Int) -> [Int] {
    edges[Int(first[node])..<Int(first[node + 1])].prefix(Self.edgeLimit).map { Int($0) }
  }

  /// Of the first of some objects that has references of which nobody is known to have them, else of the first.
  func references(toOneOf nodes: some Sequence<Int>, _ names: NodeNames, _ frames: FrameNames) -> ReferenceCount? {
    var first: ReferenceCount?
    for (number, node) in nodes.enumerated() {
      let record = snapshot.nodes[node]
      guard number == 0 || record.counted < record.strong else { continue }
      guard let references = references(to: node, names, frames) else { continue }
      if references.found < references.total { return references }
      if number == 0 { first = references }
    }
    return first
  }

  /// Nil if the count is not known, or makes no sense.
  func references(to node: Int, _ names: NodeNames, _ frames: FrameNames) -> ReferenceCount? {
    let record = snapshot.nodes[node]
    guard record.strong > 0, record.strong < .max, record.counted <= record.strong else { return nil }
    var counts: [ReferenceCount.Holder: Int] = [:]
    for edge in holders(of: node) where snapshot.edges[edge].isCounted {
      guard let last = chain.references(way(to: edge, names), names, frames).last else { continue }
      let holder = ReferenceCount.Holder(type: last.type, field: NodeNames.withoutIndices(last.field), count: 0)
      counts[holder, default: 0] += 1
    }
    let holders = counts.map { ReferenceCount.Holder(type: $0.type, field: $0.field, count: $1) }
      .ordered { ($1.count, $0.type, $0.field) < ($0.count, $1.type, $1.field) }
    let others = record.counted < record.strong ? Self.others(record.flags) : []
    return ReferenceCount(
      type: names.type(of: node), total: Int(record.strong), found: Int(record.counted),
      holders: Array(holders.prefix(Self.holderLimit)),
      candidates: others.isEmpty ? nil : others)
  }

  /// The reference, and those to what the compiler put before it: from an object that the programmer knows, if there is
  /// one.
  private func way(to edge: Int, _ names: NodeNames) -> [Int] {
    var way = [edge]
    while way.count < Self.foldedLimit {
      let from = Int(snapshot.edges[way[0]].from)
      guard !names.role(of: from).isVisible else { break }
      // Which of them lies first differs from run to run.
      let outer = holders(of: from).filter { !way.contains($0) }.min { look($0, names) < look($1, names) }
      guard let outer else { break }
      way.insert(outer, at: 0)
    }
    return way
  }

  private func look(_ edge: Int, _ names: NodeNames) -> (StableHash, StableHash) {
    (names.nameHash(of: Int(snapshot.edges[edge].from)), names.labelHash(of: edge))
  }

  private static func others(_ flags: UInt32) -> [String] {
    [(UInt32(4), "global"), (8, "thread"), (2, "memory")].filter { flags & $0.0 != 0 }.map(\.1)
  }
}
