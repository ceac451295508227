import UndeadReport

/// Timers, sources and tasks whose owners are dead, and those that alone keep the object that has them.
enum DeadOwners {
  /// What runs the handler.
  private enum Runner: String {
    case timer
    case source = "dispatch source"
    case observer
    case task

    /// What ends it.
    var end: String {
      switch self {
      case .timer: "invalidate()"
      case .observer: "removeObserver(_:) of NotificationCenter with the token"
      case .source, .task: "cancel()"
      }
    }
  }

  /// Where a NotificationCenter has its closures.
  private static func isObserverTable(_ type: String) -> Bool {
    type.hasPrefix("Swift._DictionaryStorage<Swift.UInt64,") && type.contains("MessageBox")
  }

  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations) -> [HeapFindingDraft] {
    ofDead(heap) + givenUp(heap)
  }

  /// What fires, by the names that its blocks have.
  private static let timers = ["CFRunLoopTimer", "Foundation.Timer", "UndeadRunLoop.TrackedTimer"]
  private static let sources = ["dispatch source refs", "dispatch source", "CFRunLoopSource"]
  /// Between what fires and the context of its closure are a block and what the libraries wrap it in.
  private static let mostSteps = 8

  private struct Key: Hashable {
    var runner: Runner
    var function: UInt64
    var owner: String
  }

  /// A closure that weakly captured objects, all of which are dead.
  private struct Handler {
    var context: Int
    var function: UInt64
    /// Type of one of the objects.
    var owner: String
    var runner: Runner
    /// The block of what runs it.
    var holder: Int
  }

  private static func handlers(_ heap: LoadedHeap) -> [Handler] {
    let graph = heap.graph
    let isContext = heap.types.groups.map { $0.kind == .context }
    var runners = heap.types.groups.map {
      timers.contains($0.name)
        ? Runner.timer : sources.contains($0.name) ? .source : isObserverTable($0.name) ? .observer : nil
    }
    for wait in heap.file.waits { runners[Int(heap.types.groupOfShape[Int(wait.shape)])] = .task }
    var ending: Set<UInt64>?
    func ends(_ block: Int) -> Bool {
      let tasks = ending ?? endingTasks(heap.file.tasks)
      ending = tasks
      return tasks.contains(graph.addresses[block])
    }
    // What an object or a collection holds is that one's closure, not that of what runs.
    let isOwner = heap.types.groups.map { $0.isCollection || ($0.role == .program && $0.kind != .context) }
    // The owner of a weak reference may be in memory from before recording, and look like one that is gone.
    let knowsAll = !heap.file.roots.contains { $0.kind == HeapFile.Root.beforeRecording }
    /// What runs the closure, and the block below it on the way.
    func run(_ block: Int) -> (runner: Runner, holder: Int, top: Int, function: UInt64)? {
      var (next, top, function, steps) = (block, block, UInt64(0), 0)
      while heap.paths.edge[next] != HeapPaths.none, runners[heap.group(next)] == nil, !isOwner[heap.group(next)],
        steps < mostSteps
      {
        if function == 0 { function = graph.place(Int(heap.paths.edge[next])).function }
        top = next
        next = Int(heap.paths.holder[next])
        steps += 1
      }
      guard let runner = runners[heap.group(next)], runner != .task || !ends(next) else { return nil }
      return (runner, next, top, function)
    }
    var handlers: [(handler: Handler, top: Int)] = []
    var serving: [Int] = []
    for block in 0..<graph.count where isContext[heap.group(block)] && graph.shape(block).has(HeapFile.Shape.reached) {
      switch captured(by: block, heap, knowsAll) {
      case .nothing: break
      case .living: serving.append(block)
      case .dead(let owner):
        guard let run = run(block) else { continue }
        handlers.append(
          (
            Handler(context: block, function: run.function, owner: owner, runner: run.runner, holder: run.holder),
            run.top
          ))
      }
    }
    guard !handlers.isEmpty else { return [] }
    // Variables that a closure captures are blocks of their own: one that knows a living object has work to do. A center has many closures.
    let busy = Set(serving.compactMap { run($0).map { $0.runner == .observer ? $0.top : $0.holder } })
    return handlers.lazy.filter { !busy.contains($0.handler.runner == .observer ? $0.top : $0.handler.holder) }
      .map(\.handler)
  }

  /// Addresses of the tasks that soon end, and so need no owner: those that neither wait in a loop, nor for a child or task that does.
  private static func endingTasks(_ tasks: [HeapFile.Task]) -> Set<UInt64> {
    var ending: Set<UInt64> = []
    var waiters: [UInt64: [UInt64]] = [:]
    var open: [UInt64] = []
    for task in tasks where task.isTask {
      if task.dependency == .task { waiters[task.waitsFor, default: []].append(task.address) }
      if task.has(HeapFile.Task.loops) {
        open.append(task.address)
        if task.parent != 0 { open.append(task.parent) }
      } else {
        ending.insert(task.address)
        if task.parent != 0 { waiters[task.address, default: []].append(task.parent) }
      }
    }
    while let next = open.popLast() {
      ending.remove(next)
      open += waiters.removeValue(forKey: next) ?? []
    }
    return ending
  }

  /// Type of the dead owner of each task that has one; that the check of the same moment found, too.
  static func ofTasks(_ heap: LoadedHeap) -> [Int: String] {
    let tasks = handlers(heap).filter { $0.runner == .task }
    let found = heap.file.snapshot.suspects.lazy.filter { $0.isTaskOfDeadOwner && $0.mechanism != Snapshot.none }
      .compactMap { suspect -> (Int, String)? in
        let nodes = heap.file.snapshot.nodes
        guard let task = heap.graph.block(containing: nodes[Int(suspect.mechanism)].address),
          let context = heap.graph.block(containing: nodes[Int(suspect.node)].address)
        else { return nil }
        return (task, weakType(of: context, heap))
      }
    return Dictionary(tasks.map { ($0.holder, $0.owner) } + found) { first, _ in first }
  }

  /// Type of what a context captured weakly.
  private static func weakType(of context: Int, _ heap: LoadedHeap) -> String {
    for edge in heap.graph.edges(of: context) where heap.graph.place(edge).strength == HeapFile.Strength.none {
      let type = heap.file.snapshot.strings[heap.graph.place(edge).declaredType]
      if let type = pointee(type) { return type }
    }
    return "its owner"
  }

  private static func ofDead(_ heap: LoadedHeap) -> [HeapFindingDraft] {
    var tally = PlaceTally<Key>()
    for handler in handlers(heap) {
      tally.add(
        Key(runner: handler.runner, function: handler.function, owner: handler.owner), handler.context,
        bytes: heap.dominators.retained[handler.holder])
    }
    return tally.entries.map { key, entry in
      let what = key.runner.rawValue
      let (one, many) =
        key.runner == .task
        ? ("waits", "wait") : key.runner == .observer ? ("is registered", "are registered") : ("fires", "fire")
      return HeapFindingDraft(
        kind: .deadOwner,
        title: entry.objects == 1
          ? "a \(what) \(one) for an object that is dead" : "\(what)s \(many) for objects that are dead",
        objects: entry.objects, bytes: entry.bytes, block: entry.block, type: key.owner,
        advice:
          "call \(key.runner.end) when the owner goes away, in its deinit at the latest"
      )
    }
  }

  private enum Captured {
    case nothing
    /// One of them is in memory, or it is not known.
    case living
    /// Type of one of them.
    case dead(String)
  }

  /// What a context weakly captured.
  private static func captured(by context: Int, _ heap: LoadedHeap, _ knowsAll: Bool) -> Captured {
    let graph = heap.graph
    var found = Captured.nothing
    for edge in graph.edges(of: context) where graph.place(edge).strength == HeapFile.Strength.none {
      let target = Int(graph.targets[edge])
      if graph.shape(target).has(HeapFile.Shape.isDead) {
        found = .dead(heap.types.groups[Int(heap.types.groupOfType[Int(graph.shape(target).type)])].name)
      } else if knowsAll, isOrphan(target, heap) {
        if let type = pointee(heap.file.snapshot.strings[graph.place(edge).declaredType]) { found = .dead(type) }
      } else {
        return .living
      }
    }
    return found
  }

  /// The table of weak references to an object that is gone: one to a live object counts as one to the object.
  private static func isOrphan(_ block: Int, _ heap: LoadedHeap) -> Bool {
    let sizes: ClosedRange<UInt64> = 24...64
    return heap.graph.shape(block).type == Snapshot.none && sizes.contains(heap.graph.size(block))
  }

  /// "Swift.Optional<App.Owner>" -> "App.Owner".
  private static func pointee(_ type: String) -> String? {
    let optional = "Swift.Optional<"
    guard type.hasPrefix(optional), type.hasSuffix(">") else { return type.isEmpty ? nil : type }
    return String(type.dropFirst(optional.count).dropLast())
  }

  /// Objects that only what fires keeps, and that hold it: the suspects of the check that was made with the heap.
  private static func givenUp(_ heap: LoadedHeap) -> [HeapFindingDraft] {
    let snapshot = heap.file.snapshot
    struct Kind: Hashable {
      var isTimer: Bool
      var group: Int
    }
    var tally = PlaceTally<Kind>()
    for suspect in snapshot.suspects where suspect.kind == 1 || suspect.kind == 2 {
      let node = snapshot.nodes[Int(suspect.node)]
      guard let block = heap.graph.block(containing: node.address),
        heap.types.groups[heap.group(block)].role == .program
      else { continue }
      tally.add(
        Kind(isTimer: suspect.kind == 1, group: heap.group(block)), block, bytes: heap.dominators.retained[block])
    }
    return tally.entries.map { key, entry in
      let what = key.isTimer ? "timer" : "dispatch source"
      return HeapFindingDraft(
        kind: .deadOwner,
        title:
          "nothing but a \(what) that \(entry.objects == 1 ? "it holds itself keeps an object" : "they hold themselves keeps objects")",
        objects: entry.objects, bytes: entry.bytes, block: entry.block,
        advice: "capture the owner weakly in the handler, and call \(key.isTimer ? "invalidate()" : "cancel()") "
          + "when it goes away")
    }
  }
}
