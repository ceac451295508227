import UndeadReport

/// Tasks that wait at one place by the hundred, and those that have ended and are kept.
enum WaitingTasks {
  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations) -> [HeapFindingDraft] {
    waiting(heap, places) + cancelledSleeps(heap) + finished(heap, places)
  }

  private static func waiting(_ heap: LoadedHeap, _ places: HeapLocations) -> [HeapFindingDraft] {
    let waits = heap.file.waits.filter { $0.status & TaskState.Flag.complete == 0 }
    let stacks = Dictionary(waits.map { ($0.shape, $0.stack) }) { first, _ in first }
    guard !stacks.isEmpty else { return [] }
    var tally = PlaceTally<Snapshot.Index>()
    for block in 0..<heap.graph.count {
      guard let stack = stacks[heap.graph.shapes[block]], stack != Snapshot.none,
        heap.graph.shape(block).has(HeapFile.Shape.reached)
      else { continue }
      tally.add(stack, block, bytes: heap.dominators.retained[block])
    }
    let many = tally.entries.filter { stack, entry in
      entry.objects >= HeapFindingLimits.tasks && isOfProgram(stack, heap.file.snapshot)
    }
    return ofActors(heap, places)
      + many.map { stack, entry in
        HeapFindingDraft(
          kind: .waitingTasks, title: "many tasks wait at one place", objects: entry.objects, bytes: entry.bytes,
          block: entry.block, container: container(entry.block, heap, places), suspended: stack,
          advice:
            "if they are more than the work there is, something does not wake them: a continuation that is never resumed, "
            + "a stream that is never finished, a lock or actor that is held")
      }
  }

  /// Tasks that are queued for one actor.
  private static func ofActors(_ heap: LoadedHeap, _ places: HeapLocations) -> [HeapFindingDraft] {
    let queued = Dictionary(
      grouping: heap.file.tasks.lazy.filter { $0.dependency == .executor && $0.waitsFor != 0 }, by: \.waitsFor)
    return queued.filter { $0.value.count >= HeapFindingLimits.tasks }.compactMap { address, tasks in
      guard let actor = heap.graph.block(containing: address) else { return nil }
      return HeapFindingDraft(
        kind: .waitingTasks, title: "many tasks wait for one actor", objects: tasks.count,
        bytes: heap.dominators.retained[actor], block: actor, container: places.name(Int(places.container[actor])),
        suspended: tasks[0].stack,
        advice:
          "the actor gets more work than it does: see what runs in it, above all what blocks its thread; do long work "
          + "outside of it, or limit how many tasks are started")
    }
  }

  /// Cancelling a sleep ends it, but neither its timer nor the task that the runtime made for it.
  private static func cancelledSleeps(_ heap: LoadedHeap) -> [HeapFindingDraft] {
    let tasks = heap.file.tasks
    guard tasks.lazy.filter({ $0.has(HeapFile.Task.timer) }).count >= HeapFindingLimits.tasks else { return [] }
    let progress = TaskProgress(heap)
    let cancelled = progress.sleeps { _ in true }.cancelled
    guard cancelled.count >= HeapFindingLimits.tasks else { return [] }
    let blocks = cancelled.map { Int(progress.blocks[$0]) }
    return [
      HeapFindingDraft(
        kind: .waitingTasks, title: "cancelled sleeps are kept until their time is over", objects: blocks.count,
        bytes: blocks.reduce(0) { $0 &+ heap.dominators.retained[$1] }, block: blocks[0],
        advice:
          "the runtime keeps a timer and a task for each Task.sleep, also after it was cancelled: make timeouts short, or "
          + "let one task wait for many of them")
    ]
  }

  /// A task that nothing owns is a root, which is no container.
  private static func container(_ block: Int, _ heap: LoadedHeap, _ places: HeapLocations) -> HeapLocations.Name? {
    heap.paths.edge[block] == HeapPaths.none ? nil : places.name(Int(places.container[block]))
  }

  private struct Keeper: Hashable {
    var place: UInt32
    var hasHandle: Bool
  }

  private static func finished(_ heap: LoadedHeap, _ places: HeapLocations) -> [HeapFindingDraft] {
    let shapes = Set(heap.file.waits.filter { $0.status & TaskState.Flag.complete != 0 }.map(\.shape))
    guard !shapes.isEmpty else { return [] }
    var tally = PlaceTally<Keeper>()
    for block in 0..<heap.graph.count {
      guard shapes.contains(heap.graph.shapes[block]), heap.graph.shape(block).has(HeapFile.Shape.reached) else {
        continue
      }
      // Handles are counted; a group has its children by their bare addresses.
      tally.add(
        Keeper(place: places.container[block], hasHandle: heap.ownership.counted[block] > 0), block,
        bytes: heap.dominators.retained[block])
    }
    return tally.entries.filter { $0.value.objects >= HeapFindingLimits.tasks }.map { keeper, entry in
      HeapFindingDraft(
        kind: .finishedTasks,
        title: keeper.hasHandle
          ? "tasks that have finished are kept by their handles" : "tasks that have finished are kept by their group",
        objects: entry.objects, bytes: entry.bytes, block: entry.block,
        container: container(entry.block, heap, places),
        advice: keeper.hasHandle
          ? "drop the handles: remove each from the collection when its task has ended, or do not keep it"
          : "a group keeps the results of its children until next() takes them: call it for each, or use "
            + "withDiscardingTaskGroup")
    }
  }

  /// False for tasks that the runtime makes for itself, as each `Task.sleep` does: their places say nothing.
  private static func isOfProgram(_ stack: Snapshot.Index, _ snapshot: Snapshot) -> Bool {
    let frames = snapshot.stacks[Int(stack)]
    let modules = snapshot.modules.filter { !$0.isSystem }
    return snapshot.frames[Int(frames.first)..<Int(frames.first + frames.count)].contains { frame in
      modules.contains { $0.low < frame && frame <= $0.high }
    }
  }
}
