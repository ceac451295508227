import UndeadReport

/// Dispatch queues in which blocks wait by the hundred, and operation queues with as many operations.
///
/// libdispatch links what waits in a queue: the queue refers to the first and the last one, and each to the next and to its block.
///
///     queue -> memory -> memory -> memory ...
///               |         |         |
///               C block   C block   C block
///
/// Foundation's operations are read by the names of their fields: where they have others, nothing is reported.
struct WaitingBlocks {
  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations) -> [HeapFindingDraft] {
    let search = WaitingBlocks(heap)
    var drafts = search.operationQueues()
    // What an operation queue has given to a dispatch queue waits because the operations do.
    drafts += search.dispatchQueues() + search.mainQueue()
    for number in drafts.indices {
      let block = drafts[number].block
      guard heap.paths.edge[block] != HeapPaths.none else { continue }
      drafts[number].container = places.name(Int(places.container[block]))
    }
    return drafts
  }

  private static let advice =
    "the queue gets more work than it does, or what runs in it waits for something: see what its thread does (--by thread), "
    + "and limit what is handed to it"

  private let heap: LoadedHeap
  /// By number of the type.
  private let isQueue: [Bool]
  private let isLink: [Bool]
  private let isWork: [Bool]

  private init(_ heap: LoadedHeap) {
    self.heap = heap
    let names = heap.types.groups.map(\.name)
    isQueue = names.map { $0.hasPrefix("dispatch queue ") }
    isLink = names.indices.map { $0 == Int(heap.types.foreign) || names[$0] == "dispatch continuation" }
    isWork = names.map { $0 == "C block" || $0.hasPrefix("closure context") }
  }

  private func targets(_ block: Int) -> some Sequence<Int> {
    heap.graph.edges(of: block).lazy.filter { [heap] in heap.graph.place($0).strength != HeapFile.Strength.none }
      .map { [heap] in Int(heap.graph.targets[$0]) }
  }

  private func isItem(_ block: Int) -> Bool {
    isLink[heap.group(block)] && targets(block).contains { isWork[heap.group($0)] }
  }

  /// All from these on, and their blocks.
  private func items(from first: some Sequence<Int>) -> (items: Set<Int>, work: Set<Int>) {
    var open = first.filter(isItem)
    var (found, work) = (Set(open), Set<Int>())
    while let item = open.popLast() {
      for next in targets(item) {
        if isWork[heap.group(next)] { work.insert(next) }
        if !found.contains(next), isItem(next) {
          found.insert(next)
          open.append(next)
        }
      }
    }
    return (found, work)
  }

  /// What these retain together: what one of them dominates counts with it.
  private func retained(_ blocks: Set<Int>) -> UInt64 {
    let dominators = heap.dominators
    return blocks.reduce(into: 0) { bytes, block in
      if !blocks.contains(Int(dominators.immediate[block])) { bytes &+= dominators.retained[block] }
    }
  }

  private func blocks(_ items: (items: Set<Int>, work: Set<Int>), of queue: String, at block: Int) -> HeapFindingDraft?
  {
    guard items.items.count >= HeapFindingLimits.tasks else { return nil }
    return HeapFindingDraft(
      kind: .waitingBlocks, title: "many blocks wait in \(queue)", objects: items.items.count,
      bytes: retained(items.items.union(items.work)), block: block, type: "C block", advice: Self.advice)
  }

  private func dispatchQueues() -> [HeapFindingDraft] {
    (0..<heap.graph.count).filter { isQueue[heap.group($0)] && heap.ownership.reached[$0] }.compactMap { queue in
      let label = heap.file.queueLabels[UInt32(queue)].map { heap.file.snapshot.strings[$0] }
      let name = label.map { "the queue '\($0)'" } ?? "one dispatch queue"
      return blocks(items(from: targets(queue)), of: name, at: queue)
    }
  }

  private func mainQueue() -> [HeapFindingDraft] {
    let isMain = heap.file.roots.map { heap.describe($0) == ("global", "_dispatch_main_q") }
    let first = heap.graph.rootEdges.filter { isMain[Int($0.root)] }.map { Int($0.target) }
    guard let block = first.first else { return [] }
    return blocks(items(from: first), of: "the queue of the main thread", at: block).map { [$0] } ?? []
  }

  private func operationQueues() -> [HeapFindingDraft] {
    let graph = heap.graph
    let isQueue = heap.types.groups.map { $0.name == "Foundation.OperationQueue" }
    guard isQueue.contains(true) else { return [] }
    let queues = (0..<graph.count).filter { isQueue[heap.group($0)] && heap.ownership.reached[$0] }
    return queues.compactMap { queue in
      var open = graph.edges(of: queue).filter { heap.field($0).contains("Operation") }.map { Int(graph.targets[$0]) }
      var found = Set(open)
      while let operation = open.popLast() {
        for edge in graph.edges(of: operation) where heap.field(edge).hasPrefix("__next") {
          let next = Int(graph.targets[edge])
          if found.insert(next).inserted { open.append(next) }
        }
      }
      guard found.count >= HeapFindingLimits.tasks, let one = found.min() else { return nil }
      return HeapFindingDraft(
        kind: .waitingBlocks, title: "many operations wait in one operation queue", objects: found.count,
        bytes: retained(found), block: queue, type: heap.typeName(one), advice: Self.advice)
    }
  }
}
