/// What the blocks of a leak graph look like with their neighbours: equal numbers for equal surroundings, in every run.
///
/// Where names alone leave a choice between blocks, it is made by these, not by the order in which the blocks lie.
struct NodeLooks {
  private let looks: [UInt64]

  private static let rounds = 4

  /// Colour refinement, a few rounds of it: linear in the size of the graph.
  init(_ graph: LeakGraph, _ keys: CanonicalKeys) {
    var looks = (0..<graph.nodeCount).map { keys.key(ofNode: $0).value }
    var next = looks
    for _ in 0..<Self.rounds {
      for node in looks.indices { next[node] = looks[node] &* 0x9e37_79b9_7f4a_7c15 }
      for node in looks.indices {
        for edge in graph.edges(of: node) where graph.follows(edge) {
          let end = graph.end(of: edge)
          let key = keys.key(ofEdge: edge).value
          // Sums, since neighbours have no order.
          next[node] &+= Self.mixed(key, looks[end])
          next[end] &+= Self.mixed(~key, looks[node])
        }
      }
      swap(&looks, &next)
    }
    self.looks = looks
  }

  subscript(node: Int) -> UInt64 { looks[node] }

  private static func mixed(_ edge: UInt64, _ look: UInt64) -> UInt64 {
    var hash = StableHash()
    hash.mix(edge)
    hash.mix(look)
    return hash.value
  }

  /// Nodes that look the same, the fewest first: what is rare shows the most.
  struct Classes {
    /// The nodes of a class one after the other, in the order in which they were given.
    fileprivate(set) var nodes: [Int32]
    fileprivate(set) var ranges: [Range<Int32>]
  }

  /// Puts nodes, which must be ascending, into classes.
  func classes(of nodes: [Int]) -> Classes {
    // No collection for each class: in a graph of a million blocks no two may look the same.
    let sorted = nodes.map { (look: looks[$0], node: Int32($0)) }.sorted { $0 < $1 }
    var ranges: [Range<Int32>] = []
    var start = 0
    for end in 1..<(sorted.count + 1) where end == sorted.count || sorted[end].look != sorted[start].look {
      ranges.append(Int32(start)..<Int32(end))
      start = end
    }
    ranges.sort { ($0.count, $0.lowerBound) < ($1.count, $1.lowerBound) }
    return Classes(nodes: sorted.map(\.node), ranges: ranges)
  }
}
