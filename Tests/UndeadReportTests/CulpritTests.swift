import Testing

@testable import UndeadReport

/// What is to blame for a finding: the same for all generic arguments, tests and runs.
@Suite struct CulpritTests {
  private static func leak(
    _ cycle: [Reference], _ signature: String = "1", test: TestIdentity? = nil
  ) -> Leak {
    Leak(signature: signature, kind: .retainCycle, totalBytes: 32, cycle: cycle, test: test)
  }

  private static func blame(_ cycle: (type: String, field: String, fieldType: String)...) -> Blame {
    Blame.of(leak(cycle.map { Reference(type: $0.type, field: $0.field, fieldType: $0.fieldType) })).blame
  }

  @Test func genericArgumentsDoNotMatter() {
    #expect(TypeName.unspecialized("App.Box<Swift.Int>.Node<(A) -> B<C>>") == "App.Box.Node")
    #expect(TypeName.unspecialized("App.Box") == "App.Box")
    #expect(TypeName.unspecialized("box of (A<B>) -> C") == "box of (A) -> C")
    #expect(TypeName.unspecialized("a > b") == "a > b")
    #expect(TypeName.unspecialized("App.Box<App.A") == "App.Box")
    let one = Self.blame(("App.Store<A>", "items[3]", ""), ("App.Item<A>", "store", ""))
    let other = Self.blame(("App.Item<B, C>", "store", ""), ("App.Store<B>", "items[12]", ""))
    #expect(one == other, "nor does where the cycle begins, nor which element it is")
    #expect((one.type, one.field) == ("App.Item", "store"))
  }

  @Test func theReferenceToChangeIsToBlame() throws {
    // What is said to capture is named before what refers back.
    #expect(Self.blame(("App.A", "parent", ""), ("App.B", "onEnd", "() -> ()")).title == "`onEnd` of App.B")
    #expect(Self.blame(("App.A", "child", ""), ("App.B", "delegate", "")).title == "`delegate` of App.B")
    #expect(Self.blame(("App.A", "me", "")).title == "`me` of App.A")
    #expect(Self.blame(("App.A", "all[]", ""), ("App.B", "thing", "")).title == "`thing` of App.B")
    // Of a list whose members know both neighbours, the way back: it is the one that need not own.
    #expect(Self.blame(("App.Node", "next", ""), ("App.Node", "prev", "")).title == "`prev` of App.Node")
    #expect(
      Self.blame(("App.Pipe", "head", ""), ("App.Step", "next", ""), ("App.Step", "prev", ""), ("App.Step", "pipe", ""))
        == Self.blame(("App.Step", "prev", ""), ("App.Step", "pipe", ""), ("App.Pipe", "tail", "")),
      "the same culprit wherever the cycle goes through the list")
    // Where the toolchain keeps the closure, the program's field that leads there.
    #expect(
      Self.blame(("App.Clock", "timer", ""), ("Foundation.Timer", "_fire", "() -> ()")).title == "`timer` of App.Clock")
  }

  @Test func whereNothingIsToBlameMoreThanTheRestAllIs() {
    let one = Self.blame(("App.A", "b", ""), ("App.B", "a", ""))
    #expect(one == Self.blame(("App.B", "a", ""), ("App.A", "b", "")))
    #expect(one.title == "`b` of App.A and `a` of App.B")
    let ring = Self.blame(("App.A", "next", ""), ("App.A", "next", ""), ("App.A", "next", ""))
    #expect(ring == Self.blame(("App.A", "next", ""), ("App.A", "next", "")), "however long it is")
    let many = Self.blame(("App.A", "b", ""), ("App.B", "c", ""), ("App.C", "d", ""), ("App.D", "a", ""))
    #expect(many.title == "`b` of App.A, `c` of App.B and 2 others")
  }

  @Test func whatALibrarysClosureCapturesTellsBugsApart() {
    func blame(_ type: String, _ test: TestIdentity? = nil) -> Blame {
      let cycle = [
        Reference(type: "Lib.Future<\(type)>", field: "callbacks[0]", fieldType: "() -> ()"),
        Reference(type: type, field: "future"),
      ]
      return Blame.of(Self.leak(cycle, test: test)).blame
    }
    #expect(blame("App.Session").signature != blame("App.Client").signature)
    // The test case itself is no other bug in each test.
    let tests = ["A", "B"].map { TestIdentity(name: "testIt", suite: "Tests.\($0)", library: "XCTest") }
    #expect(blame("Tests.A", tests[0]).signature == blame("Tests.B", tests[1]).signature)
  }

  /// Of two closures in a cycle the one that captures a variable, or `self`, is the mistake, and the advice is about it.
  @Test(arguments: ["variable", "self"])
  func whatACallerCapturesIsToBlameBeforeWhatWasHandedOver(captures: String) {
    func closure(_ line: Int) -> Frame {
      Frame(symbol: "closure #1 in App.a()", file: "/app/a.swift", line: line, module: "App")
    }
    let cycle = [
      Reference(type: "App.Observer", field: "onChange", closure: closure(1), captures: captures),
      Reference(type: "App.Cancellable", field: "cancel", closure: closure(2), captures: "observer"),
    ]
    for cycle in [cycle, cycle.reversed()] {
      let (blame, reference) = Blame.of(Self.leak(cycle))
      #expect(blame.title == "`onChange` of App.Observer")
      #expect(reference.map { cycle[$0].field } == "onChange")
      #expect(cycle.culpritClosure(among: cycle.indices) == reference, "as in the advice")
    }
  }

  @Test func differentClosuresOfOneFieldHaveDifferentTitles() {
    let leaks = ["App.Session", "App.Client"].map { type in
      Self.leak([
        Reference(type: "App.Mutex", field: "value", fieldType: "() -> ()"), Reference(type: type, field: "mutex"),
      ])
    }
    #expect(
      LeakReport(leaks: leaks).culprits.map(\.title).sorted() == [
        "`value` of App.Mutex, which captures App.Client", "`value` of App.Mutex, which captures App.Session",
      ])
    #expect(LeakReport(leaks: [leaks[0]]).culprits.map(\.title) == ["`value` of App.Mutex"])
  }

  @Test func theFieldNearestToWhatOutlivesItsScope() throws {
    func blame(_ path: [PathStep]) -> Blame {
      Blame.of(Leak(signature: "1", kind: .abandoned, totalBytes: 8, retainPath: path)).blame
    }
    let root = PathStep.Root(kind: "global", name: "App.shared")
    let cache = PathStep(root: root, type: "App.Cache<A>", field: "entries[value]")
    let end = PathStep(type: "App.Session", field: "")
    #expect(blame([cache, end]).title == "`entries[]` of App.Cache")
    let list = PathStep(type: "Foundation.NSArray", field: "+16")
    #expect(blame([cache, list, end]) == blame([cache, end]), "what the toolchain has in between cannot be changed")
    #expect(blame([PathStep(root: root, type: "App.Session", field: "")]).title == "`App.shared`")
    let stack = PathStep.Root(kind: "stack", name: "stack of thread 3")
    let other = PathStep.Root(kind: "stack", name: "stack of thread 9")
    let held = blame([PathStep(root: stack, type: "App.Session", field: "")])
    #expect(held.title == "App.Session, held by a thread")
    #expect(held == blame([PathStep(root: other, type: "App.Session", field: "")]))
  }

  /// All programs have tasks: one that waits is not what the findings of a program have in common.
  @Test func aTaskIsNotToBlameForWhatItHolds() throws {
    let loader = PathStep(type: "App.Loader", field: "waiter", fieldType: "Swift.UnsafeContinuation<(), Swift.Never>")
    var leak = Leak(signature: "1", kind: .abandoned, totalBytes: 32)
    leak.retainPath = [
      loader, PathStep(type: "Task", field: "async frame"), PathStep(type: "App.Screen", field: ""),
    ]
    #expect(Blame.of(leak).blame.title == "`waiter` of App.Loader" && Blame.of(leak).reference == 0)
    #expect(Self.blame(("App.Feed", "task", ""), ("Task", "async frame", "")).title == "`task` of App.Feed")
  }

  @Test func theFunctionThatMadeWhatNothingRefersTo() {
    let site = Backtrace(frames: [Frame(symbol: "App.make()", file: "/app/main.swift", line: 3, module: "App")])
    let object = LeakedObject(type: "App.Box<Swift.Int>", address: "0x1", size: 8)
    let leak = Leak(signature: "1", kind: .unreferenced, totalBytes: 8, objects: [object], allocation: site)
    #expect(Blame.of(leak).blame.title == "App.Box made in App.make()")
    #expect(Blame.of(leak).blame.function == "App.make()")
  }

  @Test func suspectsHaveOneToo() throws {
    let findings = try Findings(Scenario.suspects().report())
    #expect(
      findings.suspects.map(\.culprit.title).sorted() == [
        "`source` of App.Watcher", "`task` of App.Poller", "`timer` of App.Clock", "`token` of App.Badge",
      ])
    #expect(Set(findings.suspects.map(\.culprit.kind)).count == 4)
  }

  @Test func theCycleThatIsLeftWithoutTheCulpritIsShown() throws {
    for again in [0, 3, 20] {
      var heap = SyntheticHeap()
      let (pool, connection) = (heap.object("App.Pool"), heap.object("App.Connection"))
      for _ in 0...again {
        let context = heap.context()
        let closure = SyntheticHeap.Function.app("closure #1 in App.Pool.start()", "/app/main.swift", 4)
        heap.link(pool, "onRelease", context, type: "() -> ()", closure: closure)
        heap.link(context, "captured 0", pool)
      }
      #expect(try heap.report().leaks.first?.innerCycles == nil, "one mistake, however often")
      heap.link(pool, "connection", connection)
      heap.link(connection, "owner", pool)
      // Of two cycles as long the one with `owner` is drawn.
      #expect(try heap.report().leaks.first?.innerCycles?.map { $0.map(\.field) } == [["onRelease"]])
    }
  }

  @Test func isMarkedInTheChain() throws {
    let findings = try Findings(Scenario.delegate().report())
    #expect(findings.leaks[0].worst.chains[0].links.map(\.isCulprit) == [false, true])
  }
}
