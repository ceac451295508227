import UndeadReport

/// Memory that nothing leads to and that is no object of the program, by the function that allocated it.
enum LostMemory {
  static func drafts(_ heap: LoadedHeap) -> [HeapFindingDraft] {
    let graph = heap.graph
    var tally = PlaceTally<Snapshot.Index>()
    var lost: UInt64 = 0
    for block in 0..<graph.count where !heap.ownership.reached[block] {
      guard heap.types.groups[heap.group(block)].role == .memory else { continue }
      lost &+= graph.size(block)
      tally.add(graph.stack(block), block, bytes: graph.size(block))
    }
    let live = heap.file.shapes.isEmpty ? 0 : heap.dominators.retained[heap.dominators.nodes.top]
    guard lost >= leastBytes, lost >= 1 << 20 || lost >= live / 20 else { return [] }
    return tally.entries.filter { $0.value.bytes >= lost / 10 }.map { stack, entry in
      HeapFindingDraft(
        kind: .lostMemory, title: "memory is lost: nothing leads to it", objects: entry.objects, bytes: entry.bytes,
        block: entry.block,
        advice: "the function that allocated it, or what that gave it to, does not free it")
    }
  }

  private static let leastBytes: UInt64 = 1 << 16
}
