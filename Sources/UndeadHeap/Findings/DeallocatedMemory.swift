import UndeadReport

/// Deallocated objects whose memory unowned references keep: a reference that outlives its object keeps all of its bytes.
enum DeallocatedMemory {
  private struct Key: Hashable {
    var place: UInt32
    var group: Int
  }

  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations, _ limits: HeapFindingLimits) -> [HeapFindingDraft] {
    var tally = PlaceTally<Key>()
    for block in 0..<heap.graph.count where heap.ownership.outlives(block) {
      tally.add(
        Key(place: places.container[block], group: heap.group(block)), block, bytes: heap.graph.size(block))
    }
    return tally.entries.compactMap { key, entry in
      let isTable = heap.types.groups[key.group].name == HeapTypes.deadReference
      guard isTable ? entry.bytes >= limits.bytes : entry.objects >= least else { return nil }
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
