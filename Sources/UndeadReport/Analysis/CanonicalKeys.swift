/// What tells the blocks and references of a snapshot apart in the same way in every run: by names alone, never by
/// addresses, nor by the order in which they were found.
///
/// Two blocks of one type that other functions allocated have other keys, and so have two closures of one function.
struct CanonicalKeys {
  private let nodes: [StableHash]
  private let edges: [StableHash]

  init(_ snapshot: Snapshot, _ graph: LeakGraph, _ names: NodeNames, _ frames: inout FrameNames) {
    nodes = snapshot.nodes.indices.map { node in
      var key = names.nameHash(of: node)
      guard graph.contains(node) else { return key }
      let record = snapshot.nodes[node]
      if record.stack != Snapshot.none, !frames.isSampled { key.mix(frames.siteHash(record.stack)) }
      if record.explanation != Snapshot.none { key.mix(frames.siteHash(record.explanation)) }
      return key
    }
    edges = snapshot.edges.enumerated().map { position, edge in
      var key = names.labelHash(of: position)
      if edge.function != 0 { key.mix(frames.closureHash(at: edge.function)) }
      return key
    }
  }

  /// Key of a block: its type, and the function that allocated it.
  func key(ofNode node: Int) -> StableHash { nodes[node] }

  /// Key of a reference: its field, and the function of a closure.
  func key(ofEdge edge: Int) -> StableHash { edges[edge] }
}
