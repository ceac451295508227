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
      drafts[number].container = heap.paths.edge[block] == HeapPaths.none ? nil : places.name(Int(places.container[block]))
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

  /// How many there are from these on.
  private func count(from first: some Sequence<Int>) -> Int {
    var open = first.filter(isItem)
    var found = Set(open)
    while let item = open.popLast() {
      for next in targets(item) where !found.contains(next) && isItem(next) {
        found.insert(next)
        open.append(next)
      }
    }
    return found.count
  }

  private func draft(_ count: Int, _ block: Int, bytes: UInt64, of queue: String) -> HeapFindingDraft? {
    guard count >= HeapFindingLimits.tasks else { return nil }
    return HeapFindingDraft(
      kind: .waitingBlocks, title: "many blocks wait in one \(queue)", objects: count, bytes: bytes, block: block,
      advice: Self.advice)
  }

  private func dispatchQueues() -> [HeapFindingDraft] {
    (0..<heap.graph.count).filter { isQueue[heap.group($0)] && heap.ownership.reached[$0] }.compactMap { queue in
      draft(count(from: targets(queue)), queue, bytes: heap.dominators.retained[queue], of: "dispatch queue")
    }
  }

  private func mainQueue() -> [HeapFindingDraft] {
    let roots = heap.file.roots.map { heap.describe($0) == ("global", "_dispatch_main_q") }
    let first = heap.graph.rootEdges.filter { roots[Int($0.root)] }.map { Int($0.target) }
    let bytes = first.reduce(into: UInt64(0)) { $0 = max($0, heap.dominators.retained[$1]) }
    return first.first.flatMap { draft(count(from: first), $0, bytes: bytes, of: "queue, that of the main thread") }.map { [$0] } ?? []
  }

  private func operationQueues() -> [HeapFindingDraft] {
    let graph = heap.graph
    return (0..<graph.count).filter { heap.typeName($0) == "Foundation.OperationQueue" && heap.ownership.reached[$0] }.compactMap { queue in
      var open = graph.edges(of: queue).filter { heap.field($0).contains("Operation") }.map { Int(graph.targets[$0]) }
      var found = Set(open)
      while let operation = open.popLast() {
        for edge in graph.edges(of: operation) where heap.field(edge).hasPrefix("__next") {
          let next = Int(graph.targets[edge])
          if found.insert(next).inserted { open.append(next) }
        }
      }
      var draft = draft(found.count, queue, bytes: heap.dominators.retained[queue], of: "operation queue")
      draft?.title = "many operations wait in one operation queue"
      return draft
    }
  }
}
