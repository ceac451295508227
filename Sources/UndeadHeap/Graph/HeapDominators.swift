import UndeadReport

/// The dominator tree of a heap over owning references: a node dominates what would be freed with it.
///
/// Nodes are blocks by rank, then those of ``HeapNodes``.
package final class HeapDominators {
  package let nodes: HeapNodes
  /// The nearest dominator of each node; that of the top is itself.
  package let immediate: UnsafeBufferPointer<UInt32>
  /// Bytes of all blocks that a node dominates, with its own.
  package let retained: UnsafeBufferPointer<UInt64>
  /// Number of nodes that a node dominates, with itself.
  package let subtree: UnsafeBufferPointer<UInt32>
  /// Nodes so that what a node dominates follows it at once.
  package let order: UnsafeBufferPointer<UInt32>
  /// Position in `order` of each node.
  package let position: UnsafeBufferPointer<UInt32>

  init(_ graph: HeapGraph, _ ownership: HeapOwnership) {
    let coverage = HeapCoverage(graph, ownership)
    nodes = coverage.nodes
    let predecessors = Predecessors(graph, ownership, coverage)
    let tree = LengauerTarjan(predecessors, parent: coverage.parent)
    let dominators = tree.solve()
    predecessors.deallocate()

    let count = nodes.count
    let retained = UnsafeMutableBufferPointer<UInt64>.filled(count, with: 0)
    let sizes = graph.file.shapes.map(\.size)
    for block in 0..<graph.count { retained[block] = sizes[Int(graph.shapes[block])] }
    let subtree = UnsafeMutableBufferPointer<UInt32>.filled(count, with: 1)
    let immediate = UnsafeMutableBufferPointer<UInt32>.filled(count, with: 0)
    for met in stride(from: count - 1, through: 1, by: -1) {
      let (node, above) = (Int(coverage.order[met]), Int(coverage.order[Int(dominators[met])]))
      immediate[node] = UInt32(above)
      retained[above] &+= retained[node]
      subtree[above] += subtree[node]
    }
    immediate[nodes.top] = UInt32(nodes.top)
    dominators.deallocate()
    (order, position) = Self.layOut(coverage, immediate, subtree)
    coverage.deallocate()
    self.immediate = UnsafeBufferPointer(immediate)
    self.retained = UnsafeBufferPointer(retained)
    self.subtree = UnsafeBufferPointer(subtree)
  }

  deinit {
    for buffer in [immediate, subtree, order, position] { buffer.deallocate() }
    retained.deallocate()
  }

  /// Puts the nodes so that each is followed by what it dominates, in the order of the walk.
  private static func layOut(
    _ coverage: HeapCoverage, _ immediate: UnsafeMutableBufferPointer<UInt32>,
    _ subtree: UnsafeMutableBufferPointer<UInt32>
  ) -> (UnsafeBufferPointer<UInt32>, UnsafeBufferPointer<UInt32>) {
    let count = coverage.nodes.count
    let order = UnsafeMutableBufferPointer<UInt32>.filled(count, with: 0)
    let position = UnsafeMutableBufferPointer<UInt32>.filled(count, with: 0)
    let free = UnsafeMutableBufferPointer<UInt32>.filled(count, with: 0)
    defer { free.deallocate() }
    for met in 0..<count {
      let node = Int(coverage.order[met])
      let place = met == 0 ? 0 : free[Int(immediate[node])]
      if met > 0 { free[Int(immediate[node])] += subtree[node] }
      position[node] = place
      order[Int(place)] = UInt32(node)
      free[node] = place + 1
    }
    return (UnsafeBufferPointer(order), UnsafeBufferPointer(position))
  }

  /// True if `node` dominates `other`; every node dominates itself.
  package func dominates(_ node: Int, _ other: Int) -> Bool {
    position[other] >= position[node] && position[other] - position[node] < subtree[node]
  }

  /// The nodes that a node dominates immediately, in the order of the walk.
  package func children(of node: Int) -> some Sequence<Int> {
    let end = Int(position[node] + subtree[node])
    return sequence(state: Int(position[node]) + 1) { [order, subtree] place in
      guard place < end else { return nil }
      let child = Int(order[place])
      place += Int(subtree[child])
      return child
    }
  }

  /// The dominators of a node, the nearest first, without the top.
  package func chain(of node: Int) -> [Int] {
    var chain: [Int] = []
    var next = Int(immediate[node])
    while next != nodes.top {
      chain.append(next)
      next = Int(immediate[next])
    }
    return chain
  }
}

/// Who owns whom, in positions of a walk.
struct Predecessors {
  let first: UnsafeMutableBufferPointer<UInt32>
  let sources: UnsafeMutableBufferPointer<UInt32>

  init(_ graph: HeapGraph, _ ownership: HeapOwnership, _ coverage: HeapCoverage) {
    let (nodes, position) = (coverage.nodes, coverage.position)
    let first = UnsafeMutableBufferPointer<UInt32>.filled(nodes.count + 2, with: 0)
    Self.visit(graph, ownership, coverage) { _, target in first[Int(position[target]) + 2] += 1 }
    for place in 0..<nodes.count { first[place + 2] += first[place + 1] }
    let sources = UnsafeMutableBufferPointer<UInt32>.filled(Int(first[nodes.count + 1]), with: 0)
    Self.visit(graph, ownership, coverage) { source, target in
      let place = Int(position[target]) + 1
      sources[Int(first[place])] = position[source]
      first[place] += 1
    }
    self.first = first
    self.sources = sources
  }

  @inline(__always)
  private static func visit(
    _ graph: HeapGraph, _ ownership: HeapOwnership, _ coverage: HeapCoverage, _ body: (Int, Int) -> Void
  ) {
    let nodes = coverage.nodes
    for block in 0..<graph.count {
      for edge in graph.edges(of: block) where ownership.owns[edge] { body(block, Int(graph.targets[edge])) }
    }
    for (number, edge) in graph.rootEdges.enumerated() where ownership.rootOwns[number] {
      body(nodes.node(ofRoot: Int(edge.root)), Int(edge.target))
    }
    for entry in coverage.attached { body(Int(entry.below), Int(entry.block)) }
    for node in nodes.blocks..<nodes.top { body(nodes.top, node) }
  }

  func deallocate() {
    first.deallocate()
    sources.deallocate()
  }
}

/// The algorithm of Lengauer and Tarjan with path compression, on positions of a depth-first walk.
struct LengauerTarjan {
  private let predecessors: Predecessors
  private let parent: UnsafeMutableBufferPointer<UInt32>
  private let count: Int

  private static let none = UInt32.max

  init(_ predecessors: Predecessors, parent: UnsafeMutableBufferPointer<UInt32>) {
    self.predecessors = predecessors
    self.parent = parent
    count = parent.count
  }

  /// The immediate dominator of each position; the caller deallocates the answer.
  func solve() -> UnsafeMutableBufferPointer<UInt32> {
    let semi = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: count)
    for place in 0..<count { semi[place] = UInt32(place) }
    var forest = Forest(count, semi)
    let dominators = UnsafeMutableBufferPointer<UInt32>.filled(count, with: 0)
    // The positions whose semidominator a position is, as linked lists.
    let bucket = UnsafeMutableBufferPointer<UInt32>.filled(count, with: Self.none)
    let nextInBucket = UnsafeMutableBufferPointer<UInt32>.filled(count, with: Self.none)
    defer {
      semi.deallocate()
      bucket.deallocate()
      nextInBucket.deallocate()
      forest.deallocate()
    }
    for place in stride(from: count - 1, through: 1, by: -1) {
      for number in Int(predecessors.first[place])..<Int(predecessors.first[place + 1]) {
        semi[place] = min(semi[place], semi[Int(forest.best(Int(predecessors.sources[number])))])
      }
      nextInBucket[place] = bucket[Int(semi[place])]
      bucket[Int(semi[place])] = UInt32(place)
      let above = Int(parent[place])
      forest.link(place, below: above)
      var waiting = bucket[above]
      bucket[above] = Self.none
      while waiting != Self.none {
        let best = forest.best(Int(waiting))
        dominators[Int(waiting)] = semi[Int(best)] < semi[Int(waiting)] ? best : UInt32(above)
        waiting = nextInBucket[Int(waiting)]
      }
    }
    for place in stride(from: 1, to: count, by: 1) where dominators[place] != semi[place] {
      dominators[place] = dominators[Int(dominators[place])]
    }
    return dominators
  }

  /// Trees of the positions that were dealt with.
  private struct Forest {
    private let semi: UnsafeMutableBufferPointer<UInt32>
    private let ancestor: UnsafeMutableBufferPointer<UInt32>
    private let label: UnsafeMutableBufferPointer<UInt32>
    private var path = FlatList<UInt32>(capacity: 1024)

    init(_ count: Int, _ semi: UnsafeMutableBufferPointer<UInt32>) {
      self.semi = semi
      ancestor = .filled(count, with: none)
      label = .allocate(capacity: count)
      for place in 0..<count { label[place] = UInt32(place) }
    }

    func deallocate() {
      ancestor.deallocate()
      label.deallocate()
      path.base.deallocate()
    }

    func link(_ place: Int, below above: Int) { ancestor[place] = UInt32(above) }

    /// The position with the lowest semidominator on the way up to the root of its tree.
    @inline(__always)
    mutating func best(_ place: Int) -> UInt32 {
      let above = ancestor[place]
      if above == none { return UInt32(place) }
      if ancestor[Int(above)] != none { compress(place) }
      return label[place]
    }

    private mutating func compress(_ place: Int) {
      path.removeAll()
      var next = place
      while ancestor[Int(ancestor[next])] != none {
        path.append(UInt32(next))
        next = Int(ancestor[next])
      }
      for number in stride(from: path.count - 1, through: 0, by: -1) {
        let place = Int(path.base[number])
        let above = Int(ancestor[place])
        if semi[Int(label[above])] < semi[Int(label[place])] { label[place] = label[above] }
        ancestor[place] = ancestor[above]
      }
    }
  }
}
