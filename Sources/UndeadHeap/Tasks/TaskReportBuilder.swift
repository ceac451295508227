import UndeadReport

extension TaskReport {
  /// All tasks of a heap; the same for the same file.
  package init(_ heap: LoadedHeap, tool: LeakReport.Tool = LeakReport.Tool(), symbolizer: Symbolizer? = Symbolizer()) {
    self.init(heap, tool: tool, symbols: HeapSymbols(heap, symbolizer))
  }

  package init(_ heap: LoadedHeap, tool: LeakReport.Tool, symbols: HeapSymbols) {
    let snapshot = heap.file.snapshot
    self.init(
      tool: tool, process: LeakReport.Process(snapshot), takenAt: snapshot.takenAt, summary: Summary(),
      groups: [])
    let tally = TaskTally(heap, symbols)
    groups = tally.groups(symbols)
    summary.groups = groups.count
    for entry in tally.entries {
      summary.tasks += entry.tasks
      summary.neverResumed += entry.lost
      summary.neverResumedReachable += entry.lostReachable
      summary.onlyCancelled += entry.onlyCancelled
      summary.ownerGone += entry.ownerless
      if entry.key.state != .finished { summary.cancelled += entry.cancelled }
    }
    summary.complete = snapshot.isComplete
    summary.notes = snapshot.reportNotes.filter { $0 != LeakReport.noBacktraces } + symbols.notes
  }
}

/// Tasks by what they do, where, as parts of what, and whether they can go on.
private struct TaskTally {
  struct Key: Hashable {
    /// Index of the parents' entry.
    var parent: Int?
    var role: TaskReport.Role?
    var state: TaskState
    var stack: Snapshot.Index
    var answer: TaskProgress.Answer
    var owner: String?
    var actor: String?
  }

  struct Entry {
    var key: Key
    var tasks = 0
    var bytes: UInt64 = 0
    var lost = 0
    var lostReachable = 0
    var onlyCancelled = 0
    var ownerless = 0
    var cancelled = 0
    var cancelledSleeps = 0
    var names: [StringID] = []
    var priorities: ClosedRange<UInt8>?
    var generations: ClosedRange<UInt32>?
    var wakes: ClosedRange<Double>?
    /// The one that retains most.
    var block = 0
    var most: UInt64 = 0

    mutating func add(
      _ task: HeapFile.Task, _ block: Int, wake: Double?, isOfCancelledSleep: Bool, _ heap: LoadedHeap
    ) {
      let bytes = heap.dominators.retained[block]
      tasks += 1
      if key.role != .asyncLet { self.bytes &+= bytes }
      let canWait = key.state != .finished && key.state != .running && key.state != .queued
      if canWait, key.answer == .never {
        lost += 1
        if heap.graph.shape(block).has(HeapFile.Shape.reached) { lostReachable += 1 }
      }
      if canWait, key.answer == .cancel { onlyCancelled += 1 }
      if key.owner != nil, key.state != .finished { ownerless += 1 }
      if task.status & TaskState.Flag.cancelled != 0 { cancelled += 1 }
      if isOfCancelledSleep { cancelledSleeps += 1 }
      if task.name != 0, names.count < 3, !names.contains(task.name) { names.append(task.name) }
      priorities =
        priorities.map { min($0.lowerBound, task.priority)...max($0.upperBound, task.priority) }
        ?? task.priority...task.priority
      let born = heap.graph.site(block)?.generation ?? 0
      generations = generations.map { min($0.lowerBound, born)...max($0.upperBound, born) } ?? born...born
      if let wake { wakes = wakes.map { min($0.lowerBound, wake)...max($0.upperBound, wake) } ?? wake...wake }
      if tasks == 1 || bytes > most { (self.block, most) = (block, bytes) }
    }
  }

  private(set) var entries: [Entry] = []
  private var numbers: [Key: Int] = [:]
  private var last = -1
  private let heap: LoadedHeap

  init(_ heap: LoadedHeap, _ symbols: HeapSymbols) {
    self.heap = heap
    let progress = heap.findingResumptions { TaskProgress(heap) }
    let tasks = progress.tasks
    // Most wait where the one before does.
    var stacks = Set(tasks.first.map { [$0.stack] } ?? [])
    for (task, before) in zip(tasks.dropFirst(), tasks) where task.stack != before.stack { stacks.insert(task.stack) }
    symbols.prepare(stacks: stacks.sorted())
    let owners = DeadOwners.ofTasks(heap)
    var states: [UInt64: TaskState] = [:]
    func stateOf(_ task: HeapFile.Task) -> TaskState {
      let kind = UInt64(task.stack) << 32 | UInt64(task.status) << 8 | UInt64(task.dependency.rawValue)
      if let known = states[kind] { return known }
      let state = Self.state(of: task, symbols)
      states[kind] = state
      return state
    }
    let sleeps = progress.sleeps { stateOf(tasks[$0]) == .sleep }
    var placed = [Int](repeating: -1, count: tasks.count)
    // A parent comes before its children, however they lie in memory.
    for start in tasks.indices where tasks[start].isTask && placed[start] < 0 {
      var chain = [start]
      while let parent = progress.parents[tasks[chain.last!].parent], placed[Int(parent)] < 0, chain.count < 64 {
        chain.append(Int(parent))
      }
      for number in chain.reversed() where placed[number] < 0 && progress.blocks[number] >= 0 {
        let (task, block) = (tasks[number], Int(progress.blocks[number]))
        var state = stateOf(task)
        // The pool of threads is an executor, too.
        if state == .actor, task.waitsFor == 0 { state = .queued }
        let parent = progress.parents[task.parent].map { placed[Int($0)] }
        let isReached = heap.graph.shape(block).has(HeapFile.Shape.reached)
        let isWhole = heap.graph.addresses[block] == task.address
        placed[number] = self.number(
          Key(
            parent: parent.flatMap { $0 < 0 ? nil : $0 },
            role: task.has(HeapFile.Task.asyncLet) ? .asyncLet : task.group != 0 ? .groupChild : nil, state: state,
            stack: task.stack, answer: isReached ? progress.answers[number] : .never,
            owner: isWhole ? owners[block] : nil,
            actor: state == .actor ? heap.graph.block(containing: task.waitsFor).map(heap.typeName) : nil))
        entries[placed[number]].add(
          task, block, wake: sleeps.wakes(number), isOfCancelledSleep: sleeps.isCancelled[number], heap)
      }
    }
  }

  private mutating func number(_ key: Key) -> Int {
    // Most are as the one before.
    if entries.indices.contains(last), entries[last].key == key { return last }
    last = numbers[key] ?? entries.count
    if last == entries.count {
      numbers[key] = last
      entries.append(Entry(key: key))
    }
    return last
  }

  /// Libraries' functions up to the first of the program say what is waited for. The runtime makes a task of its own for each
  /// `Task.sleep`, in which there is no other.
  private static func state(of task: HeapFile.Task, _ symbols: HeapSymbols) -> TaskState {
    let backtrace = task.stack == Snapshot.none ? nil : symbols.backtrace(task.stack)
    let own = backtrace?.firstOwnFrame
    let isSuspended = task.status & (TaskState.Flag.ended | TaskState.Flag.enqueued) == 0
    if let backtrace, own == nil, !backtrace.frames.isEmpty, isSuspended { return .sleep }
    return TaskState(
      status: task.status, dependency: task.dependency,
      frames: backtrace?.frames.prefix { $0 != own }.map(\.symbol) ?? [])
  }

  /// Parents before their children, the trees with the worst first.
  private func sorted() -> [Int] {
    typealias Badness = (lost: Int, ownerless: Int, bytes: UInt64)
    var badness = entries.map { Badness($0.lost, $0.ownerless, $0.bytes) }
    var children = [[Int]](repeating: [], count: entries.count)
    var tops: [Int] = []
    for number in entries.indices.reversed() {
      guard let parent = entries[number].key.parent else {
        tops.append(number)
        continue
      }
      children[parent].append(number)
      badness[parent].lost = max(badness[parent].lost, badness[number].lost)
      badness[parent].ownerless = max(badness[parent].ownerless, badness[number].ownerless)
    }
    func inOrder(_ numbers: [Int]) -> [Int] {
      numbers.sorted { a, b in
        let (left, right) = (badness[a], badness[b])
        return (right.lost, right.ownerless, right.bytes, entries[a].block) < (
          left.lost, left.ownerless, left.bytes, entries[b].block
        )
      }
    }
    var (order, open) = ([Int](), Array(inOrder(tops).reversed()))
    while let next = open.popLast() {
      order.append(next)
      open += inOrder(children[next]).reversed()
    }
    return order
  }

  func groups(_ symbols: HeapSymbols) -> [TaskReport.Group] {
    let order = sorted()
    var teller = HeapPathTeller(heap)
    for number in order { teller.add(entries[number].block, resumption: true) }
    symbols.prepare(stacks: [Snapshot.Index](), functions: teller.functions)
    let paths = order.isEmpty ? [] : teller.tell(symbols.table)
    let positions = Dictionary(zip(order, order.indices)) { first, _ in first }
    let hasMarks = !heap.file.generations.isEmpty
    return zip(order, paths).map { number, path in
      let (entry, key) = (entries[number], entries[number].key)
      let backtrace = key.stack == Snapshot.none ? LeakReport.Backtrace(frames: []) : symbols.backtrace(key.stack)
      let isReached = heap.graph.shape(entry.block).has(HeapFile.Shape.reached)
      // A task that waits is a root of its own; that is nobody who could resume it.
      let isAlone = path.first?.root?.kind == "task" && heap.resumptions.edge[entry.block] == HeapPaths.none
      return TaskReport.Group(
        state: key.state, count: entry.tasks, parent: key.parent.flatMap { positions[$0] }, role: key.role,
        retainedBytes: Int(clamping: entry.bytes), waitsIn: backtrace.firstOwnFrame, backtrace: backtrace,
        resumption: key.answer == .yes ? .possible : key.answer == .cancel ? .onlyCancel : .never,
        resumedBy: isReached && path.first?.root != nil && !isAlone ? path : nil, actor: key.actor,
        names: entry.names.map { heap.file.snapshot.strings[$0] },
        priorities: entry.priorities.map {
          $0.lowerBound == $0.upperBound ? [$0.lowerBound] : [$0.lowerBound, $0.upperBound]
        }?
        .map(TaskState.priority) ?? [],
        generations: hasMarks ? entry.generations.map { [Int($0.lowerBound), Int($0.upperBound)] } ?? [] : [],
        ownerGone: entry.ownerless == entry.tasks, owner: key.owner, cancelled: entry.cancelled,
        wakesInSeconds: entry.wakes.map { [$0.lowerBound, $0.upperBound] },
        cancelledSleeps: entry.cancelledSleeps > 0 ? entry.cancelledSleeps : nil)
    }
  }
}
