@testable import UndeadReport

/// Heaps of the leaks that people make, each as the instrument would see it.
enum Scenario {
  typealias Function = SyntheticHeap.Function

  static let main = Function.app("main", "/app/main.swift", 90)

  /// The stack of an object that `function` makes at a line of main.swift.
  static func site(_ function: String, _ line: Int, _ type: String? = nil) -> [Function] {
    [.system("swift_allocObject")] + (type.map { [.app("\($0).__allocating_init()", "/app/main.swift", 1)] } ?? [])
      + [.app(function, "/app/main.swift", line), main]
  }

  static func closure(_ function: String, _ line: Int) -> Function {
    .app("closure #1 in \(function)", "/app/main.swift", line)
  }

  static func pair() -> SyntheticHeap {
    var heap = SyntheticHeap()
    for _ in 0..<2 {
      let owner = heap.object("App.Owner", size: 48, at: site("App.makePair()", 12, "App.Owner"))
      let child = heap.object("App.Child")
      let name = heap.toolchain("Swift.__StringStorage", size: 64)
      heap.link(owner, "child", child, type: "Swift.Optional<App.Child>")
      heap.link(owner, "name", name, type: "Swift.String")
      heap.link(child, "owner", owner, type: "App.Owner")
    }
    return heap
  }

  static func ownClosure() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let player = heap.object("App.Player", at: site("App.play()", 20, "App.Player"))
    let context = heap.context("closure context (captures App.Player, Swift.Int)")
    heap.link(player, "onEnd", context, type: "() -> ()", closure: closure("App.Player.start()", 24))
    heap.link(context, "captured 0", player)
    return heap
  }

  /// A closure that captures only `self` has no context: the object is the context.
  static func directClosure() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let player = heap.object("App.Player", at: site("App.play()", 20))
    heap.link(player, "onEnd", player, type: "() -> ()", closure: closure("App.Player.start()", 24))
    return heap
  }

  static func lazyClosure() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let view = heap.object("App.View", at: site("App.show()", 30))
    heap.link(
      view, "render (lazy)", view, type: "Swift.Optional<() -> Swift.String>",
      closure: closure("App.View.render.getter", 34))
    return heap
  }

  static func delegate() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let loader = heap.object("App.Loader", at: site("App.load()", 40))
    let screen = heap.object("App.Screen", size: 64, at: site("App.open()", 44))
    heap.link(loader, "delegate", screen, type: "any App.LoaderDelegate")
    heap.link(screen, "loader", loader, type: "App.Loader")
    return heap
  }

  static func children() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let parent = heap.object("App.Node", size: 48, at: site("App.grow()", 50))
    let storage = heap.toolchain("Swift._ContiguousArrayStorage<App.Node>", size: 64)
    heap.link(parent, "children", storage, type: "Swift.Array<App.Node>")
    for number in 0..<3 {
      let child = heap.object("App.Leaf", at: site("App.grow()", 51))
      heap.link(storage, "[\(number)]", child, type: "App.Leaf")
      heap.link(child, "parent", parent, type: "App.Node")
    }
    return heap
  }

  static func actor() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let store = heap.object("App.StoreActor", at: site("App.open()", 60))
    let index = heap.object("App.IndexActor", at: site("App.open()", 61))
    heap.link(store, "index", index, type: "App.IndexActor")
    heap.link(index, "store", store, type: "App.StoreActor")
    return heap
  }

  static func dictionary() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let cache = heap.object("App.Cache", at: site("App.warm()", 70))
    let storage = heap.toolchain("Swift._DictionaryStorage<Swift.String, App.Cache>", size: 128)
    heap.link(cache, "entries", storage, type: "Swift.Dictionary<Swift.String, App.Cache>")
    heap.link(storage, "[value]", cache, type: "App.Cache")
    return heap
  }

  static func indirectEnum() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let tree = heap.object("App.Tree", at: site("App.plant()", 72))
    let box = heap.node("box of App.Branch", kind: .genericBox)
    heap.link(tree, "top", box, type: "App.Branch")
    heap.link(box, "value.split.left", tree, type: "App.Tree")
    return heap
  }

  static func variable() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let box = heap.context("box of () -> ()")
    let context = heap.context("closure context (captures a variable)")
    heap.link(box, "value", context, type: "() -> ()", closure: closure("App.recurse()", 75))
    heap.link(context, "captured variable", box)
    return heap
  }

  static func task() -> SyntheticHeap {
    var heap = SyntheticHeap()
    for _ in 0..<3 {
      let task = heap.node(
        "Task", kind: .task, size: 304,
        at: [
          .system("swift_task_create", "libswift_Concurrency.so"), .app("App.spawn()", "/app/main.swift", 80), main,
        ],
        waiting: [
          .system("Swift.withCheckedContinuation(isolation:function:_:)", "libswift_Concurrency.so"),
          .app("App.Mailbox.next()", "/app/main.swift", 85), .app("closure #1 in App.spawn()", "/app/main.swift", 81),
        ])
      let slab = heap.node("async frames", kind: .other, size: 1024, state: .support)
      let mailbox = heap.object("App.Mailbox")
      heap.link(task, "async frame", slab)
      heap.link(slab, "async frame", task)
      heap.link(slab, "async frame", mailbox)
    }
    return heap
  }

  static func taskCycle() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let feed = heap.object("App.Feed", at: site("App.subscribe()", 86))
    let task = heap.node(
      "Task", kind: .task, size: 304, waiting: [.app("closure #1 in App.Feed.start()", "/app/main.swift", 88)])
    let context = heap.context("closure context (captures App.Feed)")
    heap.link(feed, "worker", task, type: "Swift.Optional<_Concurrency.Task<(), Swift.Never>>")
    heap.link(task, "+256", context, closure: closure("App.Feed.start()", 88))
    heap.link(context, "captured", feed)
    return heap
  }

  static func rawMemory() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let buffer = heap.node(
      "raw memory", kind: .other, size: 4096, state: .raw,
      at: [.system("swift_slowAlloc"), .app("App.buffer()", "/app/main.swift", 95), main])
    let item = heap.object("App.Item")
    heap.link(buffer, "+8", item)
    // Raw memory that points into itself is no retain cycle.
    heap.link(buffer, "+16", buffer)
    return heap
  }

  static func foundationTimer() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let timer = heap.toolchain("Foundation.Timer", size: 48, at: site("App.Clock.start()", 110))
    let context = heap.context("closure context (captures App.Clock)")
    let clock = heap.object("App.Clock", at: site("App.run()", 112))
    heap.link(timer, "_fire", context, closure: closure("App.Clock.start()", 110))
    heap.link(context, "captured", clock)
    return heap
  }

  /// Two leaks hold the same object, and one holds a cycle.
  static func shared() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let first = heap.object("App.First", at: site("App.one()", 120))
    let second = heap.object("App.Second", at: site("App.two()", 121))
    let tail = heap.object("App.Tail", size: 1000)
    let a = heap.object("App.Left")
    let b = heap.object("App.Right")
    heap.link(first, "tail", tail)
    heap.link(second, "tail", tail)
    heap.link(second, "pair", a)
    heap.link(a, "right", b)
    heap.link(b, "left", a)
    return heap
  }

  /// A component of which the shortest cycle is hidden among longer ones.
  static func shortest() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let nodes = (0..<6).map { heap.object("App.Step\($0)", at: site("App.walk()", 130 + $0)) }
    for number in nodes.indices { heap.link(nodes[number], "next", nodes[(number + 1) % 6]) }
    heap.link(nodes[4], "shortcut", nodes[2])
    let opaque = heap.node("", kind: .other, state: .support)
    heap.link(nodes[5], "", opaque)
    heap.link(opaque, "", nodes[5])
    return heap
  }

  /// A C block that nothing holds but that holds an object: the object is the leak.
  static func heldByForeignBlock() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let block = heap.node("malloc block", kind: .other, state: .support)
    let job = heap.object("App.Job", at: site("App.submit()", 140))
    heap.link(block, "+16", job)
    return heap
  }

  static func known() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let test = heap.object("AppTests.OwnerTests", size: 96, at: site("main", 160))
    let run = heap.toolchain("XCTest.XCTestCaseRun", size: 80)
    heap.link(test, "testRun", run, type: "Swift.Optional<XCTest.XCTestRun>")
    heap.link(run, "test", test, type: "XCTest.XCTest")
    let held = heap.object("App.Subject")
    heap.link(test, "subject", held)
    let timer = heap.toolchain("Foundation.Timer", size: 48, at: site("App.tick()", 161))
    _ = timer
    _ = heap.toolchain("Foundation.Cache", at: [.system("swift_allocObject"), .system("Foundation.load()")])
    return heap
  }

  /// As `known`, but the program made a cycle with the test case, and another one below it.
  static func cyclesBelowTestCase() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let test = heap.object("AppTests.OwnerTests", size: 96, at: site("main", 160))
    let run = heap.toolchain("XCTest.XCTestCaseRun", size: 80)
    heap.link(test, "testRun", run)
    heap.link(run, "test", test)
    let subject = heap.object("App.Subject", at: site("AppTests.OwnerTests.setUp()", 165))
    heap.link(test, "subject", subject)
    heap.link(subject, "delegate", test)
    let model = heap.object("App.Model", at: site("App.Subject.init()", 166))
    heap.link(subject, "model", model)
    heap.link(model, "onChange", model, closure: closure("App.Model.init()", 167))
    return heap
  }

  static func suspects() -> SyntheticHeap {
    var heap = SyntheticHeap()
    addSuspect(1, "App.Clock", "Foundation.Timer", "timer", root: "main run loop", &heap)
    addSuspect(2, "App.Watcher", "Dispatch.DispatchSource", "source", root: "_dispatch_mgr_q", &heap)
    addSuspect(3, "App.Badge", "Foundation.NSNotificationReceiver", "token", root: "NotificationCenter.default", &heap)
    let task = heap.node("Task", kind: .task, state: .live, waiting: [.app("App.Poller.run()", "/app/main.swift", 175)])
    let poller = heap.object("App.Poller", state: .suspect, at: site("App.poll()", 176))
    let timers = heap.node("malloc block", kind: .other, state: .live)
    let sleeper = heap.node("dispatch source refs", kind: .other, state: .live)
    heap.link(timers, "+0", sleeper)
    heap.link(sleeper, "+40", task)
    heap.link(task, "async frame", poller)
    heap.link(poller, "task", task)
    heap.suspect(4, poller, by: task, root: "$s3App6pollerAA6PollerCvp", path: [timers, sleeper, task, poller])
    return heap
  }

  /// Two equal cycles, with something that hangs off each, that frames of two threads name; and a set without a cycle of
  /// the program's.
  static func cyclesOfFrames(threads: [UInt32] = [11, 12]) -> SyntheticHeap {
    var heap = SyntheticHeap()
    for (number, thread) in threads.enumerated() {
      let parent = heap.object("App.Parent", state: .suspect, at: site("App.load()", 31))
      let child = heap.object("App.Child", state: .suspect, at: site("App.Parent.init()", 32))
      let memory = heap.node("malloc block", kind: .other, state: .suspect)
      heap.link(parent, "child", child)
      heap.link(child, "parent", parent)
      heap.link(child, "bytes", memory)
      heap.frameSuspects(number == 0 ? [parent, child, memory] : [child, parent, memory], thread: thread)
      heap.own(references: number == 0 ? 1 : 2, counted: number == 0 ? 1 : 2)
    }
    let list = heap.toolchain("Foundation.List", state: .suspect)
    heap.link(list, "next", list)
    heap.frameSuspects([list], thread: 11)
    return heap
  }

  private static func addSuspect(
    _ kind: UInt32, _ type: String, _ mechanism: String, _ field: String, root: String, _ heap: inout SyntheticHeap
  ) {
    let holder = heap.toolchain(mechanism, state: .live)
    let context = heap.context("closure context (captures \(type))", state: .live)
    let object = heap.object(type, state: .suspect, at: site("\(type).make()", 170))
    heap.link(holder, "handler", context, closure: closure("\(type).start()", 171))
    heap.link(context, "captured", object)
    heap.link(object, field, holder, implied: kind == 3)
    heap.suspect(kind, object, by: holder, root: root, path: [holder, context, object])
  }

  static func incomplete() -> SyntheticHeap {
    var heap = SyntheticHeap()
    heap.setIncomplete()
    heap.note("thread 77 could not be stopped")
    heap.count("unreachableCBlocks", 3)
    heap.count("unreachableCBytes", 300)
    heap.count("droppedNodes", 5)
    heap.count("droppedBacktraces", 1)
    return heap
  }
}
