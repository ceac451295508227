import UndeadReport

/// A depth-first walk over owning references from all roots that meets every block.
struct HeapCoverage {
  let nodes: HeapNodes
  /// Nodes in the order in which they were met, from ``HeapNodes/top`` on.
  let order: UnsafeMutableBufferPointer<UInt32>
  /// Position in `order` by node.
  let position: UnsafeMutableBufferPointer<UInt32>
  /// Position of the node that each one was met from, by position.
  let parent: UnsafeMutableBufferPointer<UInt32>
  /// Blocks that hang below one of the nodes that are no roots.
  private(set) var attached: [(block: UInt32, below: UInt32)] = []

  private let graph: HeapGraph
  private let ownership: HeapOwnership
  private let rootEdges: RootRows
  /// The next reference to follow, by position.
  private let cursor: UnsafeMutableBufferPointer<UInt32>
  private var met = 0

  static let notMet = UInt32.max

  init(_ graph: HeapGraph, _ ownership: HeapOwnership) {
    self.graph = graph
    self.ownership = ownership
    nodes = HeapNodes(graph)
    rootEdges = RootRows(graph) { number, _ in ownership.rootOwns[number] }
    order = .filled(nodes.count, with: 0)
    position = .filled(nodes.count, with: Self.notMet)
    parent = .filled(nodes.count, with: 0)
    cursor = .filled(nodes.count, with: 0)
    meet(nodes.top, from: 0)
    for root in 0..<nodes.roots { walkRoot(root) }
    meet(nodes.otherReferences, from: 0)
    attach(reached: true, below: nodes.otherReferences)
    meet(nodes.unreachable, from: 0)
    attach(reached: false, below: nodes.unreachable)
    cursor.deallocate()
    rootEdges.deallocate()
  }

  func deallocate() {
    order.deallocate()
    position.deallocate()
    parent.deallocate()
  }

  private mutating func meet(_ node: Int, from parentPosition: Int) {
    position[node] = UInt32(met)
    order[met] = UInt32(node)
    parent[met] = UInt32(parentPosition)
    if nodes.isBlock(node) { cursor[met] = graph.firstEdges[node] }
    met += 1
  }

  private mutating func walkRoot(_ root: Int) {
    let start = met
    meet(nodes.node(ofRoot: root), from: 0)
    for number in rootEdges.range(of: root) {
      let block = Int(rootEdges.targets[number])
      if position[block] == Self.notMet { walk(from: block, below: start) }
    }
  }

  /// Meets all blocks that are owned from a block on and that were not met before.
  private mutating func walk(from block: Int, below start: Int) {
    meet(block, from: start)
    var current = met - 1
    while current != start {
      let end = graph.firstEdges[Int(order[current]) + 1]
      var next = cursor[current]
      var child: Int?
      while next < end {
        let target = Int(graph.targets[Int(next)])
        if ownership.owns[Int(next)], position[target] == Self.notMet {
          child = target
          break
        }
        next += 1
      }
      cursor[current] = next
      if let child {
        meet(child, from: current)
        current = met - 1
      } else {
        current = Int(parent[current])
      }
    }
  }

  /// Attaches what has not been met: blocks that nothing owns, and one of each ring that nothing else leads to.
  private mutating func attach(reached: Bool, below node: Int) {
    var left: [UInt32] = []
    for block in 0..<graph.count where position[block] == Self.notMet {
      if ownership.reached[block] == reached { left.append(UInt32(block)) }
    }
    guard !left.isEmpty else { return }
    let start = Int(position[node])
    // In reverse order of finishing, whatever leads to a block comes before it, or is in a ring with it.
    for block in finishing(left).reversed() where position[Int(block)] == Self.notMet {
      attached.append((block, UInt32(node)))
      walk(from: Int(block), below: start)
    }
  }

  /// Blocks in the order in which a depth-first walk over those that were not met leaves them.
  private func finishing(_ left: [UInt32]) -> [UInt32] {
    var result: [UInt32] = []
    result.reserveCapacity(left.count)
    let seen = UnsafeMutableBufferPointer<Bool>.filled(graph.count, with: false)
    defer { seen.deallocate() }
    var stack: [(block: UInt32, next: UInt32)] = []
    for first in left where !seen[Int(first)] {
      seen[Int(first)] = true
      stack.append((first, graph.firstEdges[Int(first)]))
      while let (block, next) = stack.last {
        guard next < graph.firstEdges[Int(block) + 1] else {
          result.append(block)
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next = next + 1
        let target = graph.targets[Int(next)]
        guard ownership.owns[Int(next)], position[Int(target)] == Self.notMet, !seen[Int(target)] else { continue }
        seen[Int(target)] = true
        stack.append((target, graph.firstEdges[Int(target)]))
      }
    }
    return result
  }
}

/// References of roots, by root.
struct RootRows {
  private let first: UnsafeMutableBufferPointer<UInt32>
  let targets: UnsafeMutableBufferPointer<UInt32>

  /// - Parameter isMeant: whether a reference is, by its number.
  init(_ graph: HeapGraph, where isMeant: (Int, HeapGraph.RootEdge) -> Bool) {
    let roots = graph.file.roots.count
    first = .filled(roots + 2, with: 0)
    var count = 0
    for (number, edge) in graph.rootEdges.enumerated() where isMeant(number, edge) {
      first[Int(edge.root) + 2] += 1
      count += 1
    }
    for root in 0..<roots { first[root + 2] += first[root + 1] }
    targets = .filled(count, with: 0)
    for (number, edge) in graph.rootEdges.enumerated() where isMeant(number, edge) {
      targets[Int(first[Int(edge.root) + 1])] = edge.target
      first[Int(edge.root) + 1] += 1
    }
  }

  func range(of root: Int) -> Range<Int> { Int(first[root])..<Int(first[root + 1]) }

  func deallocate() {
    first.deallocate()
    targets.deallocate()
  }
}
