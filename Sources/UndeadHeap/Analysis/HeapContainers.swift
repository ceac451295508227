import UndeadReport

/// What contains a block: the nearest dominator that is a collection, or the object that owns it.
package struct HeapContainer: Hashable, Sendable {
  /// The storage of the collection; nil where the block is in none.
  package var collection: Int?
  /// The object whose field it is; nil where a root holds the collection itself.
  package var owner: Int?
  /// Type of the owner, or kind and name of the root.
  package var type: String
  /// The field of the owner, as far as it is known: `sessions`, `state.items[].handlers`. Empty for a root.
  package var field: String

  /// For a sentence: "`.sessions` of `App.Cache`".
  package var description: String { field.isEmpty ? type : "`.\(field)` of `\(type)`" }
}

/// Finds containers.
package final class HeapContainers {
  /// By block: the storage of the nearest collection that dominates it; ``none`` where there is none.
  package let collection: UnsafeBufferPointer<UInt32>

  package static let none = UInt32.max

  private unowned let heap: LoadedHeap
  private var known: [Int: HeapContainer] = [:]

  init(_ heap: LoadedHeap) {
    self.heap = heap
    let dominators = heap.dominators
    let collection = UnsafeMutableBufferPointer<UInt32>.filled(heap.graph.count, with: Self.none)
    let isCollection = heap.types.groupOfShape.map { heap.types.groups[Int($0)].isCollection }
    for place in 0..<dominators.nodes.count {
      let node = Int(dominators.order[place])
      let above = Int(dominators.immediate[node])
      guard dominators.nodes.isBlock(node), dominators.nodes.isBlock(above) else { continue }
      collection[node] = isCollection[Int(heap.graph.shapes[above])] ? UInt32(above) : collection[above]
    }
    self.collection = UnsafeBufferPointer(collection)
  }

  deinit { collection.deallocate() }

  /// The container of a block; nil if no block and no one root dominates it.
  package func container(of block: Int) -> HeapContainer? {
    let storage = collection[block]
    if storage != Self.none { return describe(collection: Int(storage)) }
    let above = Int(heap.dominators.immediate[block])
    if heap.dominators.nodes.isBlock(above) {
      return holder(of: block, collection: nil)
    }
    guard above != heap.dominators.nodes.top else { return nil }
    return ofRoot(above, collection: nil)
  }

  /// The collection that a storage belongs to: whose field it is.
  package func describe(collection storage: Int) -> HeapContainer {
    if let container = known[storage] { return container }
    let container = holder(of: storage, collection: storage)
    known[storage] = container
    return container
  }

  private func ofRoot(_ node: Int, collection: Int?) -> HeapContainer {
    HeapContainer(collection: collection, owner: nil, type: heap.text(ofNode: node), field: "")
  }

  /// The visible object that a block is reached from, with the field through whatever lies between.
  private func holder(of block: Int, collection: Int?) -> HeapContainer {
    var labels: [String] = []
    var next = block
    while heap.paths.edge[next] != HeapPaths.none {
      labels.append(heap.field(Int(heap.paths.edge[next])))
      next = Int(heap.paths.holder[next])
      if heap.types.groups[heap.group(next)].role.isVisible {
        return HeapContainer(
          collection: collection, owner: next, type: heap.typeName(next), field: Self.joined(labels.reversed()))
      }
    }
    var container = ofRoot(Int(heap.paths.holder[next]), collection: collection)
    if !labels.isEmpty { container.field = Self.joined(labels.reversed()) }
    return container
  }

  static func joined(_ labels: [String]) -> String {
    labels.reduce(into: "") { text, label in
      text += text.isEmpty || label.hasPrefix("[") || label.hasPrefix(".") ? label : ".\(label)"
    }
  }
}
