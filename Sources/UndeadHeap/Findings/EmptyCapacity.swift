import UndeadReport

/// Collections that hold most of their capacity empty: less than a quarter is in use, which growing alone never does.
enum EmptyCapacity {
  private struct Key: Hashable {
    var place: UInt32
    var group: Int
  }

  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations, _ limits: HeapFindingLimits) -> [HeapFindingDraft] {
    var tally = PlaceTally<Key>()
    for use in heap.graph.uses where use.capacity > 0 && use.used < use.capacity / 4 {
      let block = Int(use.rank)
      guard heap.graph.shape(block).has(HeapFile.Shape.reached) else { continue }
      // The bytes of a Data lie in a block of their own.
      let isData = heap.types.groups[heap.group(block)].storage == .data
      let size = isData ? heap.dominators.retained[block] : heap.graph.size(block)
      let (high, low) = size.multipliedFullWidth(by: use.capacity - use.used)
      let empty = use.capacity.dividingFullWidth((high, low)).quotient
      tally.add(Key(place: places.holder[block], group: heap.group(block)), block, bytes: empty)
    }
    return tally.entries.filter { $0.value.bytes >= limits.bytes }.map { key, entry in
      HeapFindingDraft(
        kind: .emptyCapacity,
        title: "most of the capacity of \(entry.objects == 1 ? "a collection" : "collections") is empty",
        objects: entry.objects, bytes: entry.bytes, block: entry.block, container: places.name(Int(key.place)),
        advice: "reserve less, or make a new collection of what is left after many elements were removed; "
          + "removeAll() without keepingCapacity gives the memory back")
    }
  }
}
