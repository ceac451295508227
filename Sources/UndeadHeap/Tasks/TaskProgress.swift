import UndeadReport

/// Which tasks of a heap can go on, and by what.
///
/// A suspended task does nothing by itself, and what its frames alone lead to does nothing either. So the search begins at the roots
/// and at tasks that run or are queued. It comes to a suspended task only by what would resume it: a continuation, the task or a
/// child of the group that it waits for. A handle resumes no task. It can cancel one, which helps if a handler is called then.
///
/// A handle is a counted reference, a continuation is the bare address. Words of roots and frames can be either: they are handles if
/// the task's count has room for just as many.
///
///     root -> object -> array of continuations -> task A <- waits for - task B      both go on
///     root -> handle -> task C, whose continuation nobody has                        does not
package struct TaskProgress {
  package enum Answer: UInt8 {
    /// Nothing can resume it.
    case never
    /// Only that somebody cancels it.
    case cancel
    case yes
  }

  /// One for each task of the file.
  package private(set) var answers: [Answer]
  /// Index of the task whose memory a block is.
  private var owner: [Int32]
  /// Tasks of `async let`, by the block of their parent that they lie in.
  private var inner: [Int32: [Int]] = [:]
  /// Which of them words name; nil if only the block is known.
  private var innerWords: Set<InnerWord>?
  /// The block of each task, or that its memory lies in; none if it is not in the file.
  package let blocks: [Int32]
  /// Indices of parents by address.
  package let parents: [UInt64: Int32]
  private let heap: LoadedHeap
  package let tasks: [HeapFile.Task]

  private struct InnerWord: Hashable {
    /// As in the file.
    var from: UInt64
    var task: Int
  }

  /// Words of roots and frames that name a task are its handles.
  private var onlyHandles: [Bool]
  /// Tasks that wait for a task, and those that wait for a group, by its address.
  private var waiters: [UInt64: [Int32]] = [:]
  private var isLive: [Bool]
  private var isHandled: [Bool]
  /// By block: the task that waits and whose memory the block is; -1 for other blocks.
  private var waitingIn: [Int32] = []
  private let strengths: PlaceStrengths
  /// By block: the context of a closure that a task runs, which the task owns until it ends.
  private var isOperation: [Bool]
  private var open: [Int32] = []

  package init(_ heap: LoadedHeap) {
    self.heap = heap
    strengths = PlaceStrengths(heap.file)
    tasks = heap.file.tasks.isEmpty ? Self.tasks(ofWaitsIn: heap) : heap.file.tasks
    answers = Array(repeating: .never, count: tasks.count)
    isHandled = Array(repeating: false, count: tasks.count)
    onlyHandles = Array(repeating: false, count: tasks.count)
    isLive = Array(repeating: false, count: heap.graph.count)
    isOperation = isLive
    owner = Array(repeating: -1, count: heap.graph.count)
    let ofInner = heap.file.taskMemory.lazy.filter { memory in
      memory.taskBlock < heap.graph.count && heap.graph.addresses[Int(memory.taskBlock)] != memory.task
    }
    parents = Self.parents(of: tasks, and: ofInner.map(\.task))
    blocks = Self.blocks(of: tasks, heap.graph)
    for (number, task) in tasks.enumerated() where task.isTask && blocks[number] >= 0 {
      // That of an `async let` is memory of its parent.
      if heap.graph.addresses[Int(blocks[number])] == task.address {
        owner[Int(blocks[number])] = Int32(number)
      } else {
        inner[blocks[number], default: []].append(number)
      }
      guard task.dependency == .task || task.dependency == .group else { continue }
      waiters[task.waitsFor, default: []].append(Int32(number))
    }
    for memory in heap.file.taskMemory where max(memory.block, memory.taskBlock) < heap.graph.count {
      let isInner = heap.graph.addresses[Int(memory.taskBlock)] != memory.task
      owner[Int(memory.block)] = isInner ? parents[memory.task] ?? -1 : owner[Int(memory.taskBlock)]
    }
    innerWords = heap.file.innerWords.map { words in
      let numbers = Dictionary(inner.values.joined().map { (tasks[$0].address, $0) }) { first, _ in first }
      return Set(words.compactMap { word in numbers[word.task].map { InnerWord(from: word.from, task: $0) } })
    }
    let isWaiting = tasks.indices.map { waits($0) }
    waitingIn = owner.map { $0 >= 0 && isWaiting[Int($0)] ? $0 : -1 }
    findHandles()
    search()
  }

  /// Of a file without records: nothing is known but what each does.
  private static func tasks(ofWaitsIn heap: LoadedHeap) -> [HeapFile.Task] {
    guard !heap.file.waits.isEmpty else { return [] }
    var waits = [HeapFile.Wait?](repeating: nil, count: heap.file.shapes.count)
    for wait in heap.file.waits { waits[Int(wait.shape)] = wait }
    return (0..<heap.graph.count).compactMap { block in
      waits[Int(heap.graph.shapes[block])].map {
        HeapFile.Task(address: heap.graph.addresses[block], stack: $0.stack, status: $0.status)
      }
    }
  }

  /// Those that are named as parents, and others: few of a million.
  private static func parents(of tasks: [HeapFile.Task], and others: some Sequence<UInt64>) -> [UInt64: Int32] {
    var named = Set(others).union([0])
    var last: UInt64 = 0
    for task in tasks where task.parent != last {
      last = task.parent
      named.insert(last)
    }
    guard named.count > 1 else { return [:] }
    var found: [UInt64: Int32] = [:]
    for (number, task) in tasks.enumerated() where task.isTask && named.contains(task.address) {
      if found[task.address] == nil { found[task.address] = Int32(number) }
    }
    return found
  }

  /// Tasks come in the order of their blocks, but for those that lie in the memory of others.
  private static func blocks(of tasks: [HeapFile.Task], _ graph: HeapGraph) -> [Int32] {
    var next = 0
    return tasks.map { task in
      if task.isTask, !task.has(HeapFile.Task.asyncLet) {
        while next < graph.count, graph.addresses[next] < task.address { next += 1 }
        if next < graph.count, graph.addresses[next] == task.address { return Int32(next) }
      }
      return Int32(graph.block(containing: task.address, near: next) ?? -1)
    }
  }

  /// False for those that run, are queued or have ended, and where the runtime does not say.
  private func waits(_ number: Int) -> Bool {
    let task = tasks[number]
    let moves = TaskState.Flag.running | TaskState.Flag.enqueued | TaskState.Flag.complete
    return task.isTask && task.status & moves == 0 && task.dependency != .unknown && task.dependency != .executor
  }

  /// The task that waits and whose memory the block is; nil for other blocks.
  private func waiting(_ block: Int) -> Int? {
    let number = waitingIn[block]
    return number >= 0 ? Int(number) : nil
  }

  /// References between tasks that are no continuations: to the parent, to the group, to children and to who waits.
  private func isStructure(from source: Int, to task: Int) -> Bool {
    let from = Int(owner[source])
    guard from >= 0 else { return false }
    if from == task { return true }
    let (a, b) = (tasks[from], tasks[task])
    if a.parent == b.address || b.parent == a.address || (a.parent != 0 && a.parent == b.parent) { return true }
    return (a.dependency == .task && a.waitsFor == b.address) || (b.dependency == .task && b.waitsFor == a.address)
  }

  /// What the timers of libdispatch say of tasks, by their index.
  package struct Sleeps {
    /// By task: seconds until the timer fires that it waits for, or that the runtime made the task for; infinite for others.
    private var seconds: [Double]
    /// By task: one of the runtime that nobody waits for any more: it keeps the timer of a cancelled sleep until its time is over.
    package private(set) var isCancelled: [Bool]

    fileprivate init(tasks: Int) {
      seconds = Array(repeating: .infinity, count: tasks)
      isCancelled = Array(repeating: false, count: tasks)
    }

    fileprivate mutating func note(_ task: Int, wakesIn time: Double) { seconds[task] = min(seconds[task], time) }
    fileprivate mutating func noteCancelled(_ task: Int) { isCancelled[task] = true }

    /// Ascending.
    package var cancelled: [Int] { isCancelled.indices.filter { isCancelled[$0] } }

    package func wakes(_ task: Int) -> Double? { seconds[task] < .infinity ? seconds[task] : nil }
  }

  /// - Parameter sleeps: whether a task, by its index, waits for a timer.
  package func sleeps(_ sleeps: (Int) -> Bool) -> Sleeps {
    var found = Sleeps(tasks: tasks.count)
    let isToken = heap.types.groups.map { $0.name == Self.contextOfSleep }
    var met: [Int] = []
    for (number, timer) in tasks.enumerated() where !timer.isTask && blocks[number] >= 0 {
      let woken = woken(by: Int(blocks[number]), isToken, &met, sleeps)
      let seconds = Double(timer.waitsFor) / 1e9
      if let task = woken.runtimes { found.note(task, wakesIn: seconds) }
      if let task = woken.task { found.note(task, wakesIn: seconds) }
      if let task = woken.runtimes, woken.task == nil { found.noteCancelled(task) }
    }
    return found
  }

  /// The first task on the way that sleeps, and the one that the runtime makes for each sleep, if it is of a sleep.
  ///
  /// - Parameters:
  ///   - isToken: by group of types: what ``token(ofRuntimes:_:)`` looks for.
  ///   - met: memory that is used again.
  private func woken(
    by timer: Int, _ isToken: [Bool], _ met: inout [Int], _ sleeps: (Int) -> Bool
  ) -> (task: Int?, runtimes: Int?) {
    let most = 32
    var next = 0
    met.removeAll(keepingCapacity: true)
    met.append(timer)
    while next < met.count, next < most {
      for edge in followed(met[next]) {
        let target = Int(heap.graph.targets[edge])
        if met.contains(target) { continue }
        if let task = sleeper(edge, in: met[next], sleeps) { return (task, nil) }
        if waiting(target) != nil { continue }
        if owner[target] >= 0, let token = token(ofRuntimes: target, isToken) {
          let first = followed(token).first { heap.graph.place($0).offset == 0 }
          return (first.flatMap { sleeper($0, in: token) { _ in true } }, Int(owner[target]))
        }
        met.append(target)
      }
      next += 1
    }
    return (nil, nil)
  }

  /// What tells a task of the runtime whom to wake: its closure captures the address of memory that begins with a continuation. Cancelling
  /// the sleep takes it away from there. Other words of both may be stale, and name other sleepers.
  private func token(ofRuntimes task: Int, _ isToken: [Bool]) -> Int? {
    let graph = heap.graph
    for operation in followed(task) {
      let context = Int(graph.targets[operation])
      guard isToken[heap.group(context)] else { continue }
      return followed(context).first { _ in true }.map { Int(graph.targets[$0]) }
    }
    return nil
  }

  /// What the closure of a task that the runtime makes for a sleep is.
  static let contextOfSleep = "closure context (captures Swift.UnsafeSleepStateToken)"

  /// A task of `async let` lies in its parent's memory, to which the word leads as well.
  private func sleeper(_ edge: Int, in block: Int, _ sleeps: (Int) -> Bool) -> Int? {
    guard kind(edge, of: block) != .handle else { return nil }
    let target = heap.graph.targets[edge]
    func waits(_ task: Int) -> Bool { self.waits(task) && tasks[task].dependency == .continuation && sleeps(task) }
    if let task = inner[Int32(target)]?.first(where: { names(UInt64(block), $0) && waits($0) }) { return task }
    return waiting(Int(target)).flatMap { waits($0) ? $0 : nil }
  }

  /// Whether a word of this place names a task of `async let`, as far as that is known.
  private func names(_ place: UInt64, _ task: Int) -> Bool {
    innerWords?.contains(InnerWord(from: place, task: task)) ?? true
  }

  /// References that keep what they name.
  private func followed(_ block: Int) -> some Sequence<Int> {
    heap.graph.edges(of: block).lazy.filter { [places = heap.graph.places, strengths] edge in
      strengths.keeps(places[edge])
    }
  }

  private enum Word { case handle, either, continuation }

  /// Objects keep handles by counted references; only words of frames are both.
  private func kind(_ edge: Int, of block: Int) -> Word {
    if strengths.counts(heap.graph.places[edge]) { return .handle }
    return owner[block] >= 0 ? .either : .continuation
  }

  private mutating func findHandles() {
    var (counted, either, doubtful) = (
      [Int](repeating: 0, count: tasks.count), [Int](repeating: 0, count: tasks.count),
      [Int](repeating: 0, count: tasks.count)
    )
    // Words of others' frames that need not be handles, but may be: of what waits for the task, or has it as a child.
    var structure = [Int](repeating: 0, count: tasks.count)
    let graph = heap.graph
    let (targets, places) = (graph.targets, graph.places)
    for block in 0..<graph.count {
      for edge in graph.edges(of: block) {
        if strengths.isOperation(places[edge]), waiting(block) != nil { isOperation[Int(targets[edge])] = true }
        guard let task = waiting(Int(targets[edge])), strengths.keeps(places[edge]) else { continue }
        if isStructure(from: block, to: task) {
          if Int(owner[block]) != task { structure[task] += 1 }
          continue
        }
        switch kind(edge, of: block) {
        case .handle: counted[task] += 1
        case .either: either[task] += 1
        case .continuation: break
        }
      }
    }
    for edge in graph.rootEdges {
      let root = heap.file.roots[Int(edge.root)]
      guard let task = waiting(Int(edge.target)), root.kind != HeapFile.Root.task else { continue }
      if root.isWeak { doubtful[task] += 1 } else { either[task] += 1 }
    }
    for number in tasks.indices where waits(number) && blocks[number] >= 0 {
      let count = graph.strongCounts[Int(blocks[number])]
      guard count != HeapGraph.unknownCount else { continue }
      // The task itself is one of the owners until it ends.
      let room = Int(count) - 1 - counted[number]
      onlyHandles[number] =
        either[number] <= room - structure[number] && room <= either[number] + doubtful[number] + structure[number]
    }
  }

  private mutating func search() {
    for number in tasks.indices {
      let task = tasks[number]
      let moves = task.status & (TaskState.Flag.running | TaskState.Flag.enqueued) != 0 || task.dependency == .executor
      if moves, task.isTask, task.status & TaskState.Flag.complete == 0 { resume(number, .yes) }
    }
    let isCache = heap.file.isCache
    // A task that waits is a root for those who look for owners, and none here.
    for (number, edge) in heap.graph.rootEdges.enumerated()
    where heap.file.roots[Int(edge.root)].kind != HeapFile.Root.task {
      let target = Int(edge.target)
      guard !heap.file.roots[Int(edge.root)].isWeak || !isCounted(target) else { continue }
      if isCache[Int(edge.root)] { continue }
      meetInner(target, from: nil, HeapFile.InnerWord.ofRoot | UInt64(number), by: .either, .yes)
      guard let task = waiting(target) else {
        reach(target)
        continue
      }
      meet(task, by: .either, .yes)
    }
    run(.yes)
    // What a holder of handles could bring about by cancelling.
    for number in tasks.indices where answers[number] == .never && canBeCancelled(number) { resume(number, .cancel) }
    run(.cancel)
    for number in tasks.indices where !waits(number) && blocks[number] >= 0 {
      answers[number] = isLive[Int(blocks[number])] ? .yes : .never
    }
  }

  /// Counted references account for all owners: what else names the block may be stale.
  private func isCounted(_ block: Int) -> Bool {
    let count = heap.graph.strongCounts[block]
    guard count != HeapGraph.unknownCount, waiting(block) == nil else { return false }
    return heap.ownership.counted[block] + (isOperation[block] ? 1 : 0) >= count
  }

  private func canBeCancelled(_ number: Int) -> Bool {
    guard tasks[number].has(HeapFile.Task.cancelHandler) else { return false }
    var next = number
    for _ in 0..<64 {
      if isHandled[next] || answers[next] != .never { return true }
      guard let parent = parents[tasks[next].parent] else { return false }
      next = Int(parent)
    }
    return false
  }

  private mutating func reach(_ block: Int) {
    guard !isLive[block] else { return }
    isLive[block] = true
    open.append(Int32(block))
  }

  private mutating func meet(_ task: Int, by word: Word, _ answer: Answer) {
    let isHandle = word == .handle || (word == .either && onlyHandles[task])
    if isHandle { isHandled[task] = true } else if tasks[task].dependency == .continuation { resume(task, answer) }
  }

  /// The word may be a continuation of a task that lies in the block.
  private mutating func meetInner(_ target: Int, from source: Int?, _ place: UInt64, by word: Word, _ answer: Answer) {
    guard !inner.isEmpty, word != .handle, let tasks = inner[Int32(target)] else { return }
    let isHandle = word == .either && waiting(target).map { onlyHandles[$0] } == true
    guard !isHandle else { return }
    for task in tasks where source.map({ isStructure(from: $0, to: task) }) != true && waits(task) {
      guard names(place, task) else { continue }
      if self.tasks[task].dependency == .continuation { resume(task, answer) }
    }
  }

  private mutating func resume(_ task: Int, _ answer: Answer) {
    guard answers[task] == .never else { return }
    answers[task] = answer
    if blocks[task] >= 0 { reach(Int(blocks[task])) }
    for waiter in waiters[tasks[task].address] ?? [] { resume(Int(waiter), answer) }
    if tasks[task].group != 0 {
      for waiter in waiters[tasks[task].group] ?? [] { resume(Int(waiter), answer) }
    }
  }

  private mutating func run(_ answer: Answer) {
    let graph = heap.graph
    let (targets, places) = (graph.targets, graph.places)
    while let next = open.popLast() {
      let block = Int(next)
      for edge in graph.edges(of: block) where strengths.keeps(places[edge]) {
        let target = Int(targets[edge])
        meetInner(target, from: block, UInt64(block), by: kind(edge, of: block), answer)
        guard let task = waiting(target) else {
          reach(target)
          continue
        }
        if answers[task] != .never {
          reach(target)
        } else if !isStructure(from: block, to: task) {
          meet(task, by: kind(edge, of: block), answer)
        }
      }
    }
  }
}

/// What the strengths of references mean, by their places: millions of references have few places.
private struct PlaceStrengths {
  private let keeps: [Bool]
  private let counts: [Bool]
  private let isOfOperation: [Bool]

  init(_ file: HeapFile) {
    keeps = file.places.map { $0.strength != HeapFile.Strength.none && $0.strength != HeapFile.Strength.number }
    counts = file.places.map { $0.strength == HeapFile.Strength.counted }
    isOfOperation = file.places.map { place in
      guard place.holder != Snapshot.none, place.strength == HeapFile.Strength.raw else { return false }
      return file.snapshot.types[Int(place.holder)].kind == .task && file.snapshot.strings[place.label] == "operation"
    }
  }

  func keeps(_ place: UInt32) -> Bool { keeps[Int(place)] }
  func isOperation(_ place: UInt32) -> Bool { isOfOperation[Int(place)] }
  func counts(_ place: UInt32) -> Bool { counts[Int(place)] }
}
