import UndeadReport

/// Memory that nothing leads to and that is no object of the program, by the function that allocated it; messages of the runtime apart.
/// What leaked objects and tasks lead to is lost with them: `undead leaks` shows it there.
enum LostMemory {
  static func drafts(_ heap: LoadedHeap) -> [HeapFindingDraft] {
    let graph = heap.graph
    var tally = PlaceTally<Place>()
    var lost: UInt64 = 0
    let isOfLeak = blocksOfLeaks(heap)
    for block in 0..<graph.count where !heap.ownership.reached[block] && !isOfLeak(block) {
      lost &+= graph.size(block)
      let isMessage = heap.types.groups[heap.group(block)].name == KnownLeaks.messages
      tally.add(Place(stack: graph.stack(block), isMessage: isMessage), block, bytes: graph.size(block))
    }
    let live = heap.file.shapes.isEmpty ? 0 : heap.dominators.retained[heap.dominators.nodes.top]
    guard lost >= leastBytes, lost >= 1 << 20 || lost >= live / 20 else { return [] }
    return tally.entries.filter { $0.value.bytes >= lost / 10 }.map { _, entry in
      HeapFindingDraft(
        kind: .lostMemory, title: "memory is lost: nothing leads to it", objects: entry.objects, bytes: entry.bytes,
        block: entry.block,
        advice: "the function that allocated it, or what that gave it to, does not free it")
    }
  }

  private struct Place: Hashable {
    var stack: Snapshot.Index
    var isMessage: Bool
  }

  /// Whether a block is an object or a task that nothing leads to, or one of these leads to it.
  private static func blocksOfLeaks(_ heap: LoadedHeap) -> (Int) -> Bool {
    let (graph, reached) = (heap.graph, heap.ownership.reached)
    var found = [Bool](repeating: false, count: graph.count)
    var open = (0..<graph.count).filter { !reached[$0] && heap.types.groups[heap.group($0)].role != .memory }
    for block in open { found[block] = true }
    while let block = open.popLast() {
      for edge in graph.edges(of: block) where graph.place(edge).strength != HeapFile.Strength.none {
        let target = Int(graph.targets[edge])
        guard !reached[target], !found[target] else { continue }
        found[target] = true
        open.append(target)
      }
    }
    return { found[$0] }
  }

  private static let leastBytes: UInt64 = 1 << 16
}
