import UndeadReport

/// A collection that keeps more than a third of all: the innermost one of those that do.
enum LargestContainer {
  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations, _ limits: HeapFindingLimits) -> [HeapFindingDraft] {
    var found: [Int] = []
    for block in 0..<heap.graph.count where heap.types.groups[heap.group(block)].isCollection {
      let retained = heap.dominators.retained[block]
      guard limits.isDominating(retained, blocks: Int(heap.dominators.subtree[block])),
        heap.graph.shape(block).has(HeapFile.Shape.reached)
      else { continue }
      found.append(block)
    }
    let innermost = found.filter { block in
      !found.contains { $0 != block && heap.dominators.dominates(block, $0) }
    }
    return innermost.map { block in
      HeapFindingDraft(
        kind: .dominatingContainer, title: "one collection keeps more than a third of all memory",
        objects: Int(heap.dominators.subtree[block]) - 1, bytes: heap.dominators.retained[block], block: block,
        container: places.name(Int(places.holder[block])),
        advice: "if it only ever grows, limit it or remove what is no longer needed: "
          + "compare with a later heap file (undead diff)")
    }
  }
}
