/// Finds ways along the references of a snapshot.
struct Ways {
  private let snapshot: Snapshot
  /// First edge of each node in the snapshot's order; empty if nobody will ask.
  private let firstEdge: [Int]

  /// - Parameter isNeeded: false if there is nothing to find ways for, which saves the preparation.
  init(_ snapshot: Snapshot, isNeeded: Bool) {
    self.snapshot = snapshot
    guard isNeeded else {
      firstEdge = []
      return
    }
    var first = [Int](repeating: 0, count: snapshot.nodes.count + 1)
    for edge in snapshot.edges { first[Int(edge.from) + 1] += 1 }
    for node in snapshot.nodes.indices { first[node + 1] += first[node] }
    firstEdge = first
  }

  /// Shortest way along strong and implied references; empty if there is none.
  func way(from start: Int, to end: Int) -> [Int] {
    guard start != end else { return [] }
    var reached: [Int: Int] = [start: -1]
    var queue = [start]
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      for edge in firstEdge[node]..<firstEdge[node + 1] where snapshot.edges[edge].isStrong {
        let target = Int(snapshot.edges[edge].to)
        guard reached[target] == nil else { continue }
        reached[target] = edge
        if target == end { return trace(reached, to: end) }
        queue.append(target)
      }
    }
    return []
  }

  private func trace(_ reached: [Int: Int], to end: Int) -> [Int] {
    var edges: [Int] = []
    var node = end
    while let edge = reached[node], edge >= 0 {
      edges.append(edge)
      node = Int(snapshot.edges[edge].from)
    }
    return edges.reversed()
  }
}
