import UndeadReport

/// What contains the objects of a type, and where they were allocated.
package struct TypeOrigins {
  package private(set) var containers: [String: Int] = [:]
  package private(set) var stacks: [Snapshot.Index: Int] = [:]
  /// By the block of the collection's storage: most objects are in few collections.
  private var collections: [UInt32: Int] = [:]
  private var owners: [String: Int] = [:]
  private var all = 0

  /// The type that has nearly all of them in its fields.
  package var owner: String? { owners.max { $0.value < $1.value }.flatMap { $0.value * 10 >= all * 9 ? $0.key : nil } }

  private mutating func add(_ block: Int, in heap: LoadedHeap) {
    let collection = heap.containers.collection[block]
    if collection != HeapContainers.none, !heap.ownership.outlives(block) {
      collections[collection, default: 0] += 1
    } else if let container = heap.containers.container(of: block) {
      add(container, 1, suffix(block, in: heap))
    }
    all += 1
    stacks[heap.graph.stack(block), default: 0] += 1
  }

  private func suffix(_ block: Int, in heap: LoadedHeap) -> String {
    heap.ownership.outlives(block) ? " (deallocated: unowned references keep the memory)" : ""
  }

  private mutating func nameCollections(in heap: LoadedHeap) {
    for (collection, count) in collections {
      add(heap.containers.describe(collection: Int(collection)), count)
    }
    collections = [:]
  }

  private mutating func add(_ container: HeapContainer, _ count: Int, _ suffix: String = "") {
    containers[container.description + suffix, default: 0] += count
    if container.owner != nil { owners[container.type, default: 0] += count }
  }

  /// Looks types up by their names.
  package static func count(_ types: [String], in heap: LoadedHeap) -> [String: TypeOrigins] {
    let wanted = Set(types)
    var names: [Int: String] = [:]
    for (number, group) in heap.types.groups.enumerated() where wanted.contains(group.name) {
      names[number] = group.name
    }
    // A count of objects does not distinguish them.
    for (number, group) in heap.types.groups.enumerated() where group.name.hasPrefix(HeapTypes.deallocated) {
      let name = String(group.name.dropFirst(HeapTypes.deallocated.count))
      if wanted.contains(name) { names[number] = name }
    }
    if wanted.contains(TypeCounts.untyped) {
      for number in [heap.types.raw, heap.types.foreign] { names[Int(number)] = TypeCounts.untyped }
    }
    var found: [String: TypeOrigins] = [:]
    guard !names.isEmpty else { return found }
    for block in 0..<heap.graph.count {
      guard let name = names[heap.group(block)] else { continue }
      found[name, default: TypeOrigins()].add(block, in: heap)
    }
    for name in found.keys { found[name]?.nameCollections(in: heap) }
    return found
  }
}
