import UndeadReport

/// The shortest way from a root to each block along owning references.
package final class HeapPaths {
  /// The reference through which each block is reached; ``none`` for those that a root holds.
  package let edge: UnsafeBufferPointer<UInt32>
  /// The block that has this reference; for those that a root holds the node of the root.
  package let holder: UnsafeBufferPointer<UInt32>
  /// All blocks, nearer ones first.
  package let order: UnsafeBufferPointer<UInt32>

  package static let none = UInt32.max

  private let blocks: Int

  init(_ heap: LoadedHeap) {
    let (graph, ownership) = (heap.graph, heap.ownership)
    blocks = graph.count
    let edge = UnsafeMutableBufferPointer<UInt32>.filled(graph.count, with: Self.none)
    let holder = UnsafeMutableBufferPointer<UInt32>.filled(graph.count, with: Self.none)
    let order = UnsafeMutableBufferPointer<UInt32>.filled(graph.count, with: 0)
    var (met, done) = (0, 0)
    func meet(_ block: Int, from source: Int, by number: UInt32) {
      holder[block] = UInt32(source)
      edge[block] = number
      order[met] = UInt32(block)
      met += 1
    }
    func spread() {
      while done < met {
        let block = Int(order[done])
        done += 1
        for number in graph.edges(of: block) where ownership.owns[number] {
          let target = Int(graph.targets[number])
          if holder[target] == Self.none { meet(target, from: block, by: UInt32(number)) }
        }
      }
    }
    let nodes = heap.dominators.nodes
    let rows = RootRows(graph, ownership)
    for root in Self.bestFirst(heap.file.roots) {
      for number in rows.range(of: root) where holder[Int(rows.targets[number])] == Self.none {
        meet(Int(rows.targets[number]), from: nodes.node(ofRoot: root), by: Self.none)
      }
    }
    rows.deallocate()
    spread()
    for node in [nodes.otherReferences, nodes.unreachable] {
      for block in heap.dominators.children(of: node) where holder[block] == Self.none {
        meet(block, from: node, by: Self.none)
      }
      spread()
    }
    assert(met == graph.count)
    self.edge = UnsafeBufferPointer(edge)
    self.holder = UnsafeBufferPointer(holder)
    self.order = UnsafeBufferPointer(order)
  }

  deinit {
    for buffer in [edge, holder, order] { buffer.deallocate() }
  }

  /// A global variable says more than a word of a stack.
  private static func bestFirst(_ roots: [HeapFile.Root]) -> [Int] {
    let ranks: [UInt32] = [
      HeapFile.Root.global, HeapFile.Root.runLoop, HeapFile.Root.threadLocal, HeapFile.Root.beforeRecording,
      HeapFile.Root.stack, HeapFile.Root.register,
    ]
    return roots.indices.sorted { a, b in
      let (first, second) = (ranks.firstIndex(of: roots[a].kind), ranks.firstIndex(of: roots[b].kind))
      return (first ?? ranks.count, a) < (second ?? ranks.count, b)
    }
  }

  /// Nobody reads more references; longer paths, as of lists, lose their middle where they are shown.
  private static let toldReferences = 400

  /// The references that are shown of the path from a root to a block, and the node of the root.
  package func toldPath(to block: Int) -> (root: Int, edges: [Int]) {
    var path = path(to: block)
    let half = Self.toldReferences / 2
    if path.edges.count > 2 * half { path.edges.removeSubrange(half..<(path.edges.count - half)) }
    return path
  }

  /// The references from a root to a block, and the node of the root.
  package func path(to block: Int) -> (root: Int, edges: [Int]) {
    var edges: [Int] = []
    var next = block
    while edge[next] != Self.none {
      edges.append(Int(edge[next]))
      next = Int(holder[next])
    }
    return (Int(holder[next]), edges.reversed())
  }
}
