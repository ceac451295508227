/// What distinguishes the blocks and references of a snapshot, alike in every run: by names alone, never by
/// addresses, nor by the order in which they were found.
///
/// Two blocks of one type that other functions allocated have other keys, and so have two closures of one function.
struct CanonicalKeys {
  private let nodes: [StableHash]
  /// Keys of references, and which of them each one has: there may be millions, but of few kinds.
  private let kinds: [StableHash]
  private let kindOfEdge: [Int32]

  init(_ snapshot: Snapshot, _ graph: LeakGraph, _ names: NodeNames, _ frames: FrameNames) {
    nodes = snapshot.nodes.indices.map { node in
      var key = names.nameHash(of: node)
      guard graph.contains(node) else { return key }
      let record = snapshot.nodes[node]
      if record.stack != Snapshot.none, !frames.isSampled { key.mix(frames.siteHash(record.stack)) }
      if record.explanation != Snapshot.none { key.mix(frames.siteHash(record.explanation)) }
      return key
    }
    (kinds, kindOfEdge) = Self.readKinds(snapshot, names, frames)
  }

  private static func readKinds(
    _ snapshot: Snapshot, _ names: NodeNames, _ frames: FrameNames
  ) -> ([StableHash], [Int32]) {
    struct Kind: Hashable {
      var label: Int32
      var function: UInt64
    }
    var (kinds, kindOfEdge) = names.labelHashes
    var known: [Kind: Int32] = [:]
    for (position, edge) in snapshot.edges.enumerated() where edge.function != 0 {
      let kind = Kind(label: kindOfEdge[position], function: edge.function)
      if known[kind] == nil {
        var key = kinds[Int(kind.label)]
        key.mix(frames.closureHash(at: edge.function))
        known[kind] = Int32(kinds.count)
        kinds.append(key)
      }
      kindOfEdge[position] = known[kind] ?? kind.label
    }
    return (kinds, kindOfEdge)
  }

  /// Key of a block: its type, and the function that allocated it.
  func key(ofNode node: Int) -> StableHash { nodes[node] }

  /// Key of a reference: its field, and the function of a closure.
  func key(ofEdge edge: Int) -> StableHash { kinds[Int(kindOfEdge[edge])] }
}
