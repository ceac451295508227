/// Finds the shortest ways along the references of a snapshot; of several that are as short, the same one in every run.
final class Ways {
  private let snapshot: Snapshot
  private let names: NodeNames
  /// By address of the function.
  private var closures: [UInt64: StableHash] = [:]
  /// First edge of each node in the snapshot's order; empty if nobody will ask.
  private let firstEdge: [Int32]

  /// - Parameter isNeeded: false if there is nothing to find ways for, which saves the preparation.
  init(_ snapshot: Snapshot, _ names: NodeNames, _ frames: FrameNames, isNeeded: Bool) {
    self.snapshot = snapshot
    self.names = names
    guard isNeeded else {
      firstEdge = []
      return
    }
    var first = [Int32](repeating: 0, count: snapshot.nodes.count + 1)
    for edge in snapshot.edges {
      first[Int(edge.from) + 1] += 1
      if edge.function != 0 { closures[edge.function] = frames.closureHash(at: edge.function) }
    }
    for node in snapshot.nodes.indices { first[node + 1] += first[node] }
    firstEdge = first
  }

  /// Shortest way along strong and implied references; empty if there is none.
  ///
  /// - Parameter byNames: a weak or unowned reference may be the last one.
  func way(from start: Int, to end: Int, byNames: Bool = false) -> [Int] {
    guard start != end else { return [] }
    let first = firstEdge
    return Self.way(from: start, snapshot) {
      Int(first[$0])..<Int(first[$0 + 1])
    } follows: {
      (snapshot.edges[$0].isStrong
        || (byNames && snapshot.edges[$0].isWeak && isNamed(Int(snapshot.edges[$0].to), end)))
        && !snapshot.nodes[Int(snapshot.edges[$0].from)].isOnlyHolder
    } isEnd: {
      $0 == end
    } look: { edge in
      var look = names.labelHash(of: edge)
      look.mix(names.nameHash(of: Int(snapshot.edges[edge].to)))
      if let closure = closures[snapshot.edges[edge].function] { look.mix(closure) }
      return look
    }
  }

  /// The shortest cycle of strong and implied references that the node is in; empty if there is none.
  func cycle(through node: Int) -> [Int] {
    guard !firstEdge.isEmpty else { return [] }
    let ways = (Int(firstEdge[node])..<Int(firstEdge[node + 1])).compactMap { edge -> [Int]? in
      let next = Int(snapshot.edges[edge].to)
      guard snapshot.edges[edge].isStrong else { return nil }
      if next == node { return [edge] }
      let back = way(from: next, to: node)
      return back.isEmpty ? nil : [edge] + back
    }
    return ways.min { ($0.count, names.labelHash(of: $0[0])) < ($1.count, names.labelHash(of: $1[0])) } ?? []
  }

  /// Whether a weak reference to the node is one to `end`, or to what wraps it.
  private func isNamed(_ node: Int, _ end: Int) -> Bool { node == end || !names.isOfProgram(node) || names.isOwn(node) }

  /// How a node was reached, and what the way looks like.
  private struct Step {
    var edge: Int
    var level: Int
    var hash: StableHash
  }

  /// Shortest way to a node that is an end, in levels: all nodes that are as far are compared before any is left.
  ///
  /// - Parameter look: a hash of a reference and where it leads, the same in every run.
  static func way(
    from start: Int, _ snapshot: Snapshot, edges: (Int) -> Range<Int>, follows: (Int) -> Bool,
    isEnd: (Int) -> Bool, look: (Int) -> StableHash
  ) -> [Int] {
    var reached = [start: Step(edge: -1, level: 0, hash: StableHash())]
    var open = [start]
    var level = 0
    while !open.isEmpty {
      level += 1
      var next: [Int] = []
      var best: (node: Int, hash: StableHash)?
      for node in open {
        let before = reached[node]?.hash ?? StableHash()
        for edge in edges(node) where follows(edge) {
          let end = Int(snapshot.edges[edge].to)
          let known = reached[end]
          guard known == nil || known?.level == level else { continue }
          var hash = before
          hash.mix(look(edge))
          if let known, known.hash <= hash { continue }
          reached[end] = Step(edge: edge, level: level, hash: hash)
          if known == nil { next.append(end) }
          if isEnd(end), best.map({ hash < $0.hash }) ?? true { best = (end, hash) }
        }
      }
      if let best { return trace(reached, to: best.node, snapshot) }
      open = next
    }
    return []
  }

  private static func trace(_ reached: [Int: Step], to end: Int, _ snapshot: Snapshot) -> [Int] {
    var edges: [Int] = []
    var node = end
    while let step = reached[node], step.edge >= 0 {
      edges.append(step.edge)
      node = Int(snapshot.edges[step.edge].from)
    }
    return edges.reversed()
  }
}
