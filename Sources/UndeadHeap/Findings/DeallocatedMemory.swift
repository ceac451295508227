import UndeadReport

/// Deallocated objects whose memory unowned references keep: a reference that outlives its object keeps all of its bytes.
enum DeallocatedMemory {
  private struct Key: Hashable {
    var place: UInt32
    var group: Int
  }

  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations) -> [HeapFindingDraft] {
    var tally = PlaceTally<Key>()
    for block in 0..<heap.graph.count where heap.ownership.outlives(block) {
      tally.add(
        Key(place: places.container[block], group: heap.group(block)), block, bytes: heap.graph.size(block))
    }
    return tally.entries.filter { $0.value.objects >= least }.map { key, entry in
      let isTable = key.group == Int(heap.types.deadReference)
      return HeapFindingDraft(
        kind: .deallocatedMemory,
        title: isTable
          ? "weak references to deallocated objects are kept"
          : "memory of deallocated objects is kept by references that are unowned",
        objects: entry.objects, bytes: entry.bytes, block: entry.block, container: places.name(Int(key.place)),
        advice: isTable
          ? "remove the references whose objects are gone: each keeps a small table"
          : "remove the references when their objects go, or make them weak: an unowned reference keeps all bytes of its object"
      )
    }
  }

  private static let least = 100
}
