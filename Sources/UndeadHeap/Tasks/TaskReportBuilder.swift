import UndeadReport

extension TaskReport {
  /// All tasks of a heap; the same for the same file.
  package init(_ heap: LoadedHeap, tool: LeakReport.Tool = LeakReport.Tool(), symbolizer: Symbolizer? = Symbolizer()) {
    let snapshot = heap.file.snapshot
    let symbols = HeapSymbols(heap, symbolizer)
    self.init(
      tool: tool, process: LeakReport.Process(snapshot), takenAt: HeapReport.takenAt(snapshot), summary: Summary(),
      groups: [])
    let tally = TaskTally(heap, symbols)
    groups = tally.groups(symbols)
    summary.groups = groups.count
    for entry in tally.entries.values {
      summary.tasks += entry.blocks
      summary.neverResumed += entry.lost
      summary.ownerGone += entry.ownerless
    }
    summary.complete = snapshot.isComplete
    summary.notes = snapshot.reportNotes + symbols.notes
  }
}

/// Tasks by what they do, where, and whether they can go on.
private struct TaskTally {
  struct Key: Hashable {
    var state: TaskState
    var stack: Snapshot.Index
    var isReached: Bool
    var owner: String?
  }

  struct Entry {
    var blocks = 0
    var bytes: UInt64 = 0
    var lost = 0
    var ownerless = 0
    var cancelled = 0
    /// The one that retains most.
    var block = 0
    var most: UInt64 = 0
  }

  private(set) var entries: [Key: Entry] = [:]
  private let heap: LoadedHeap

  init(_ heap: LoadedHeap, _ symbols: HeapSymbols) {
    self.heap = heap
    symbols.prepare(stacks: heap.file.waits.map(\.stack))
    var waits = [HeapFile.Wait?](repeating: nil, count: heap.file.shapes.count)
    for wait in heap.file.waits { waits[Int(wait.shape)] = wait }
    let states = Dictionary(heap.file.waits.map { ($0.shape, Self.state(of: $0, symbols)) }) { first, _ in first }
    let owners = DeadOwners.ofTasks(heap)
    for block in 0..<heap.graph.count {
      let shape = heap.graph.shapes[block]
      guard let wait = waits[Int(shape)], let state = states[shape] else { continue }
      let isReached = heap.graph.shape(block).has(HeapFile.Shape.reached)
      add(
        Key(state: state, stack: wait.stack, isReached: isReached, owner: owners[block]), block,
        isCancelled: wait.status & TaskState.Flag.cancelled != 0)
    }
  }

  /// Libraries' functions up to the first of the program say what is waited for. The runtime makes a task of its own for each
  /// `Task.sleep`, in which there is no other.
  private static func state(of wait: HeapFile.Wait, _ symbols: HeapSymbols) -> TaskState {
    let backtrace = wait.stack == Snapshot.none ? nil : symbols.backtrace(wait.stack)
    let own = backtrace?.firstOwnFrame
    if let backtrace, own == nil, !backtrace.frames.isEmpty, wait.status & TaskState.Flag.ended == 0 { return .sleep }
    return TaskState(status: wait.status, frames: backtrace?.frames.prefix { $0 != own }.map(\.symbol) ?? [])
  }

  private mutating func add(_ key: Key, _ block: Int, isCancelled: Bool) {
    var entry = entries[key] ?? Entry(block: block)
    let bytes = heap.dominators.retained[block]
    entry.blocks += 1
    entry.bytes &+= bytes
    let canWait = key.state != .finished && key.state != .running && key.state != .queued
    if !key.isReached, canWait { entry.lost += 1 }
    if key.owner != nil, key.state != .finished { entry.ownerless += 1 }
    if isCancelled { entry.cancelled += 1 }
    if bytes > entry.most { (entry.block, entry.most) = (block, bytes) }
    entries[key] = entry
  }

  func groups(_ symbols: HeapSymbols) -> [TaskReport.Group] {
    let sorted = entries.sorted { a, b in
      let (left, right) = (a.value, b.value)
      return (right.lost, right.ownerless, right.bytes, left.block) < (
        left.lost, left.ownerless, left.bytes, right.block
      )
    }
    var teller = HeapPathTeller(heap)
    for (_, entry) in sorted { teller.add(entry.block, resumption: true) }
    symbols.prepare(stacks: [Snapshot.Index](), functions: teller.functions)
    let paths = sorted.isEmpty ? [] : teller.tell(symbols.table)
    return zip(sorted, paths).map { item, path in
      let (key, entry) = item
      let backtrace = key.stack == Snapshot.none ? LeakReport.Backtrace(frames: []) : symbols.backtrace(key.stack)
      return TaskReport.Group(
        state: key.state, count: entry.blocks, retainedBytes: Int(clamping: entry.bytes),
        waitsIn: backtrace.firstOwnFrame, backtrace: backtrace,
        resumedBy: key.isReached && path.first?.root != nil ? path : nil, ownerGone: entry.ownerless == entry.blocks,
        owner: key.owner, cancelled: entry.cancelled)
    }
  }
}
