import Foundation
import Testing

@testable import UndeadReport

/// What owner scopes and run loops tell, in the text and in the model.
@Suite struct FactsReportTests {
  typealias Function = SyntheticHeap.Function

  static let ended = [
    Function.app("closure #1 in static Undead.OwnerScope.backtrace()"), .system("Swift.Array.init(capacity:)"),
    .app("Undead.OwnerScope.close(grace:)"), .app("App.closeScreen()", "/app/main.swift", 70), Scenario.main,
  ]

  /// An owner that a scheduled timer targets, as UndeadRunLoop's objects hold it.
  static func timerTarget(base: UInt64 = 0x5500_0000_0000, loop: String = "main") -> SyntheticHeap {
    var heap = SyntheticHeap(base: base)
    let timer = heap.toolchain("UndeadRunLoop.TrackedTimer", size: 128, state: .live)
    let target = heap.toolchain("UndeadRunLoop.StrongTarget<App.Owner>", state: .live)
    let owner = heap.object("App.Owner", size: 48, state: .live, at: Scenario.site("App.open()", 12, "App.Owner"))
    heap.link(timer, "action.target", target, type: "UndeadRunLoop.TimerTarget")
    heap.link(target, "target", owner, type: "App.Owner")
    heap.loopItem(timer, loop: loop, name: "poll")
    heap.watch(owner, scope: "Detail screen", ended: ended, rootKind: 5, root: loop, path: [timer, target, owner])
    return heap
  }

  /// The one leak of a heap in which `link` connects a global object of `App.Holder` with a watched `App.Owner`.
  static func heldByGlobal(
    _ link: (inout SyntheticHeap, _ holder: Int, _ owner: Int) -> [Int]
  ) throws -> Leak {
    var heap = SyntheticHeap()
    let holder = heap.object("App.Holder", state: .live)
    let owner = heap.object("App.Owner", state: .live, at: Scenario.site("App.open()", 12))
    let path = link(&heap, holder, owner)
    heap.watch(owner, scope: "Screen", root: "$s3App6HolderC6sharedACvpZ", path: path)
    return try #require(heap.report().leaks.first)
  }

  @Test func abandonedByATimer() throws {
    #expect(
      try Self.timerTarget().text() == """
        LEAK 1 of 1  App.Owner outlives its scope "Detail screen"  (1 object, 48 bytes)

            run loop "main" → mode default → timer "poll"
              .target → App.Owner
              ^^^^^^^

          allocated  in App.open() at /app/main.swift:12
          scope      "Detail screen" ended in App.closeScreen() at /app/main.swift:70
          advice     the timer "poll" holds its target strongly until it is invalidated: call invalidate() when the owner
                     goes away (its deinit cannot, it never runs), or make it with `holding: .weak`

          stack of the allocation:
            #0  App.open() at /app/main.swift:12
            #1  main at /app/main.swift:90

        undead: 1 leak (1 object, 48 bytes)

        """)
  }

  @Test func pathFromALoopInTheModel() throws {
    let report = try Self.timerTarget().report()
    let leak = try #require(report.leaks.first)
    #expect(leak.kind == .abandoned)
    #expect(leak.scope?.name == "Detail screen")
    #expect(leak.scope?.backtrace.frames.first?.symbol == "App.closeScreen()")
    let path = try #require(leak.retainPath)
    #expect(path.map(\.type) == ["UndeadRunLoop.TrackedTimer", "App.Owner"])
    #expect(path.map(\.field) == ["target", ""])
    #expect(path[0].root == PathStep.Root(kind: "runLoop", name: "main"))
    #expect(path[0].item == "timer")
    #expect(path[0].mode == "default")
    #expect(path[0].name == "poll")
    #expect(report.fails())
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
  }

  @Test func signatureHoldsNoAddressAndNoThread() throws {
    let first = try Self.timerTarget(loop: "thread 12").report().leaks[0].signature
    #expect(try Self.timerTarget(base: 0x7f00_0000_0000, loop: "thread 3456").report().leaks[0].signature == first)
    func onStack(_ thread: UInt32) throws -> String {
      var heap = SyntheticHeap()
      let owner = heap.object("App.Owner", state: .live, at: Scenario.site("App.open()", 12))
      heap.watch(owner, scope: "Screen", rootKind: 2, thread: thread, path: [owner])
      return try heap.report().leaks[0].signature
    }
    #expect(try onStack(11) == onStack(22))
    #expect(try onStack(11) != first)
  }

  @Test func abandonedByABlock() throws {
    var heap = SyntheticHeap()
    let timer = heap.toolchain("UndeadRunLoop.TrackedTimer", state: .live)
    let context = heap.context(state: .live)
    let owner = heap.object("App.Owner", state: .live, at: Scenario.site("App.open()", 12))
    heap.link(
      timer, "action.block", context, type: "(UndeadRunLoop.TrackedTimer) throws -> ()",
      closure: Scenario.closure("App.Owner.start()", 20))
    heap.link(context, "captured 0", owner)
    heap.loopItem(timer, modes: "default, tracking")
    heap.watch(owner, scope: "Screen", rootKind: 5, root: "main", path: [timer, context, owner])
    #expect(
      try heap.text(stacks: false) == """
        LEAK 1 of 1  App.Owner outlives its scope "Screen"  (1 object, 32 bytes)

            run loop "main" → modes default, tracking → timer
              .block → closure #1 in App.Owner.start() at /app/main.swift:20
              ^^^^^^
                  captures self → App.Owner

          allocated  in App.open() at /app/main.swift:12
          scope      "Screen" ended
          advice     the block of the timer captures `self` strongly: capture it weakly (`[weak self]`), and call
                     invalidate() when the owner goes away

        undead: 1 leak (1 object, 32 bytes)

        """)
  }

  @Test func adviceNamesWhatHoldsTheObject() throws {
    func advice(_ label: String, type: String = "", closure: Function? = nil) throws -> String {
      try Self.heldByGlobal { heap, holder, owner in
        heap.link(holder, label, owner, type: type, closure: closure)
        return [holder, owner]
      }.advice ?? ""
    }
    #expect(try advice("delegate").hasPrefix("`delegate` of App.Holder still refers to it: declare it `weak`"))
    #expect(try advice("current").hasPrefix("set `current` of App.Holder to nil when the scope ends"))
    #expect(
      try advice("onEnd", type: "() -> ()", closure: Scenario.closure("App.Owner.start()", 3))
        .hasPrefix("the closure stored in `onEnd` of App.Holder captures `self` strongly"))
    let inArray = try Self.heldByGlobal { heap, holder, owner in
      let storage = heap.toolchain("Swift._ContiguousArrayStorage<App.Owner>", state: .live)
      heap.link(holder, "children", storage)
      heap.link(storage, "[0]", owner)
      return [holder, storage, owner]
    }
    #expect(inArray.retainPath?.map(\.field) == ["children[0]", ""])
    #expect(
      inArray.advice?.hasPrefix("`children` of App.Holder (reached from `App.Holder.shared`) still holds it") ?? false)
    let global = try Self.heldByGlobal { _, _, owner in [owner] }
    #expect(global.advice?.hasPrefix("the global or static variable `App.Holder.shared` still refers to it") ?? false)
    let task = try Self.heldByGlobal { heap, holder, owner in
      let task = heap.node("Task", kind: .task, state: .live)
      heap.link(holder, "worker", task)
      heap.link(task, "async frame", owner)
      return [holder, task, owner]
    }
    #expect(task.advice?.hasPrefix("a task that has not ended holds it: cancel the task") ?? false)
  }

  @Test func whatAnAbandonedObjectHoldsIsCountedWithIt() throws {
    var heap = SyntheticHeap()
    let screen = heap.object("App.Screen", size: 64, state: .live, at: Scenario.site("App.open()", 12))
    let model = heap.object("App.Model", size: 16, state: .live)
    heap.link(screen, "model", model)
    heap.watch(model, scope: "Screen", root: "$s3App7currentAA6ScreenCvp", path: [screen, model])
    heap.watch(screen, scope: "Screen", root: "$s3App7currentAA6ScreenCvp", path: [screen])
    let report = try heap.report()
    #expect(report.leaks.count == 1)
    #expect(report.leaks[0].objects.map(\.type) == ["App.Screen"])
    #expect(report.leaks[0].alsoLeaked == [TypeCount(type: "App.Model", count: 1, bytes: 16)])
    #expect(report.leaks[0].count == 1)
    #expect(report.summary.leakedObjects == 2)
    #expect(report.summary.leakedBytes == 80)
  }

  @Test func unreachableWatchedObjectIsAnOrdinaryLeakWithItsScope() throws {
    var heap = Scenario.pair()
    heap.watch(0, scope: "Request", ended: Self.ended)
    let leak = try heap.report().leaks[0]
    #expect(leak.kind == .retainCycle)
    #expect(leak.scope?.name == "Request")
    #expect(try heap.text().contains("\n  scope      \"Request\" ended in App.closeScreen() at /app/main.swift:70\n"))
  }

  @Test func anObjectThatOutlivedItsScopeIsNoSuspectToo() throws {
    var heap = Self.timerTarget()
    #expect(try heap.report().suspects.isEmpty)
    heap.suspect(1, 2, by: 0, root: "main", path: [0, 1, 2])
    #expect(try heap.report().suspects.isEmpty)
  }

  @Test func suspectHeldByATimerOfARunLoop() throws {
    var heap = SyntheticHeap()
    let timer = heap.toolchain("UndeadRunLoop.TrackedTimer", state: .live)
    let target = heap.toolchain("UndeadRunLoop.StrongTarget<App.Owner>", state: .live)
    let owner = heap.object("App.Owner", state: .suspect, at: Scenario.site("App.open()", 12))
    heap.link(timer, "action.target", target)
    heap.link(target, "target", owner)
    heap.link(owner, "timer", timer)
    heap.loopItem(timer, name: "poll")
    heap.suspect(1, owner, by: timer, root: "", path: [timer, target, owner])
    let suspect = try #require(heap.report().suspects.first)
    #expect(suspect.kind == .timer)
    #expect(suspect.retainPath[0].root == PathStep.Root(kind: "runLoop", name: "main"))
    #expect(suspect.holdsBack?.map(\.field) == ["timer"])
    #expect(suspect.advice?.hasPrefix("the timer \"poll\" holds its target strongly") ?? false)
  }

  @Test func abandonedObjectThatHoldsItsTimerShowsTheCycleToo() throws {
    var heap = SyntheticHeap()
    let timer = heap.toolchain("UndeadRunLoop.TrackedTimer", state: .live)
    let owner = heap.object("App.Owner", state: .live, at: Scenario.site("App.open()", 12))
    heap.link(timer, "target", owner)
    heap.link(owner, "timer", timer)
    heap.loopItem(timer, name: "poll")
    heap.watch(owner, scope: "Screen", rootKind: 5, root: "main", path: [timer, owner])
    let leak = try #require(heap.report().leaks.first)
    #expect(leak.kind == .abandoned)
    #expect(leak.cycle?.map(\.field) == ["timer", "target"])
    #expect(
      try heap.text().contains(
        """
            run loop "main" → mode default → timer "poll"
              .target → App.Owner
              ^^^^^^^
            and App.Owner holds what holds it:
            App.Owner
              .timer → UndeadRunLoop.TrackedTimer
              .target → App.Owner  ↺

        """))
    #expect(try Self.timerTarget().report().leaks[0].cycle == nil)
  }

  @Test func preventedCallOfATimerIsAZombie() throws {
    var heap = SyntheticHeap()
    for address in ["0x10", "0x20"] {
      heap.diagnostic(
        "timerTarget", "timer \"poll\" would have called tick() of App.Owner, which was freed",
        details: #"{"target":"App.Owner","selector":"tick()","address":"\#(address)"}"#,
        at: [.app("App.run()", "/app/main.swift", 9)],
        traces: [
          ("creation", [.app("App.start()", "/app/main.swift", 3)]), ("allocation", Scenario.site("App.open()", 2)),
        ])
    }
    let report = try heap.report()
    #expect(report.diagnostics.isEmpty)
    let zombie = try #require(report.zombies.first)
    #expect(report.zombies.count == 1)
    #expect(zombie.count == 2)
    #expect(zombie.kind == "timerTarget")
    #expect(zombie.type == "App.Owner")
    #expect(zombie.address == "0x10")
    #expect(zombie.access.frames.map(\.symbol) == ["App.run()"])
    #expect(zombie.allocation.frames.contains { $0.symbol == "App.open()" })
    #expect(report.fails())
  }

  @Test func cycleThroughATimerShowsNothingOfTheLibrary() throws {
    var heap = SyntheticHeap()
    let owner = heap.object("App.Owner", at: Scenario.site("App.open()", 12))
    let timer = heap.toolchain("UndeadRunLoop.TrackedTimer")
    let target = heap.toolchain("UndeadRunLoop.StrongTarget<App.Owner>")
    heap.link(owner, "timer", timer)
    heap.link(timer, "action.target", target)
    heap.link(target, "target", owner)
    let cycle = try #require(heap.report().leaks[0].cycle)
    #expect(cycle.map(\.type) == ["App.Owner", "UndeadRunLoop.TrackedTimer"])
    #expect(cycle.map(\.field) == ["timer", "target"])
  }

  @Test func leakThatAForkedChildInheritedCountsOnce() throws {
    let parent = Self.timerTarget()
    var child = Self.timerTarget()
    child.set("pid", "43")
    child.set("forkedFrom", "42")
    let report = LeakReport(analyzing: [ReportInput(parent.built), ReportInput(child.built)])
    #expect(report.leaks.map(\.count) == [1])
  }

  // MARK: Diagnostics and run loops

  @Test func diagnostics() throws {
    var heap = SyntheticHeap()
    heap.diagnostic(
      "invalidatedOffThread", "timer \"poll\" was invalidated from another thread",
      details: #"{"timer":"poll","loop":"main"}"#, at: [.app("App.stop()", "/app/main.swift", 5), Scenario.main],
      traces: [("creation", [.app("App.start()", "/app/main.swift", 3)])])
    for _ in 0..<7 { heap.diagnostic("lateFire", "a timer fired 60 ms late") }
    let text = try heap.text()
    #expect(
      text.hasPrefix(
        """
        DIAGNOSTIC  timer "poll" was invalidated from another thread  (invalidatedOffThread)
          loop: main, timer: poll
          at  App.stop() at /app/main.swift:5
            #0  App.stop() at /app/main.swift:5
            #1  main at /app/main.swift:90
          creation  App.start() at /app/main.swift:3

        DIAGNOSTIC  a timer fired 60 ms late  (lateFire)

        """))
    #expect(text.contains("  ... 2 more of kind lateFire\n"))
    #expect(text.hasSuffix("undead: no leaks, 8 diagnostics\n"))
    let report = try heap.report()
    #expect(report.diagnostics[0].details == ["timer": "poll", "loop": "main"])
    #expect(report.diagnostics[0].backtraces?.map(\.role) == ["creation"])
    #expect(!report.fails())
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
  }

  @Test(arguments: [
    ("", [:]), ("{}", [:]), (#"{"a":"b"}"#, ["a": "b"]), ("{", ["details": "{"]), ("[1]", ["details": "[1]"]),
    (#"{"a":1,"b":1.5,"c":true,"d":null,"e":[]}"#, ["a": "1", "b": "1.5", "c": "true"]),
  ])
  func detailsNeedNotBeTrusted(_ text: String, _ details: [String: String]) {
    #expect(Diagnostic.details(text) == details)
  }

  @Test func runLoops() throws {
    var heap = SyntheticHeap()
    heap.setRunLoops(
      #"""
      {"loops":[{"name":"main","runningMode":"default","fires":14,"missed":1,"timers":[
        {"name":"poll","modes":["default"],"interval":0.1,"fires":14,"missed":1,"worstLateness":0.0012,
         "target":{"type":"App.Owner","holding":"strong","isAlive":true}},
        {"name":"","modes":[],"interval":0,"fires":0}]},
        {"name":"idle","fires":0,"timers":[]},
        {"name":"busy","fires":1,"modes":[{"name":"default","timers":5000}],"timers":[{"name":"a","interval":1}]}]}
      """#)
    #expect(
      try heap.text() == """
        RUN LOOPS
          "main": running in default, 2 timers, 14 fires, 1 missed
            timer "poll" every 100 ms in default, target App.Owner (strong, alive), 14 fires, 1 missed, at worst 1.2 ms late
            timer once, 0 fires
          "busy": not running, 5,000 timers, 1 fire
            timer "a" every 1 s, 0 fires
            ... 4,999 more timers

        undead: no leaks

        """)
    let report = try heap.report()
    #expect(report.runLoops?["loops"]?.elements.first?["name"]?.text == "main")
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
  }

  @Test func programWithoutRunLoopsHasNoSection() throws {
    let report = try Scenario.pair().report()
    #expect(report.runLoops == nil)
    #expect(!String(decoding: try JSONRenderer.render(report), as: UTF8.self).contains("runLoops"))
  }
}
