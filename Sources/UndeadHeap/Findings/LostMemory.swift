import UndeadReport

/// Memory that nothing leads to and that is no object of the program, by the function that allocated it; messages of the runtime apart.
/// What leaked objects and tasks lead to is lost with them: `undead leaks` shows it there.
package enum LostMemory {
  /// How much of it there is.
  package struct Amount {
    package fileprivate(set) var bytes: UInt64 = 0
    /// Of these, messages of the runtime.
    package fileprivate(set) var messages: UInt64 = 0
    /// Of these, what was allocated where nobody recorded.
    package fileprivate(set) var withoutPlace: UInt64 = 0
    /// True if there is a finding for one place or more.
    package fileprivate(set) var isListed = false
  }

  package static func amount(_ heap: LoadedHeap) -> Amount {
    var amount = Amount()
    var places: [Place: UInt64] = [:]
    eachBlock(heap) { block, place in
      let bytes = heap.graph.size(block)
      amount.bytes &+= bytes
      places[place, default: 0] &+= bytes
      if place.isMessage {
        amount.messages &+= bytes
      } else if place.stack == Snapshot.none {
        amount.withoutPlace &+= bytes
      }
    }
    amount.isListed = places.values.contains { $0 >= amount.bytes / listedShare }
    return amount
  }

  static func drafts(_ heap: LoadedHeap) -> [HeapFindingDraft] {
    var tally = PlaceTally<Place>()
    var lost: UInt64 = 0
    eachBlock(heap) { block, place in
      lost &+= heap.graph.size(block)
      tally.add(place, block, bytes: heap.graph.size(block))
    }
    let live = heap.file.shapes.isEmpty ? 0 : heap.dominators.retained[heap.dominators.nodes.top]
    guard lost >= leastBytes, lost >= 1 << 20 || lost >= live / 20 else { return [] }
    return tally.entries.filter { $0.value.bytes >= lost / listedShare }.map { place, entry in
      HeapFindingDraft(
        kind: .lostMemory, title: "memory is lost: nothing leads to it", objects: entry.objects, bytes: entry.bytes,
        block: entry.block,
        advice: place.stack == Snapshot.none
          ? KnownLeaks.needsPlace : "the function that allocated it, or what that gave it to, does not free it")
    }
  }

  private static func eachBlock(_ heap: LoadedHeap, _ body: (Int, Place) -> Void) {
    let isOfLeak = blocksOfLeaks(heap)
    for block in 0..<heap.graph.count where !heap.ownership.reached[block] && !isOfLeak(block) {
      let isMessage = heap.types.groups[heap.group(block)].name == KnownLeaks.messages
      body(block, Place(stack: heap.graph.stack(block), isMessage: isMessage))
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
  /// Places with less than this part of all are not listed.
  private static let listedShare: UInt64 = 10
}
