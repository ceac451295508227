import Testing

@testable import UndeadReport

/// What is said of the references that threads own, and of cycles that only a thread's frame names.
@Suite struct OwnersReportTests {
  private static func heldByStack(references: UInt32, counted: UInt32, shared: Bool = false) throws -> LeakReport {
    var heap = SyntheticHeap()
    let owner = heap.object("App.Owner", state: .live, at: Scenario.site("App.open()", 12))
    let item = heap.object("App.Item", state: .live, at: Scenario.site("App.add()", 13))
    heap.link(owner, "item", item)
    heap.watch(item, scope: "Screen", rootKind: 2, root: "stack of thread 3", thread: 3, path: [owner, item])
    heap.own(references: references, counted: counted, shared: shared)
    return try heap.report()
  }

  private static func line(_ references: UInt32, _ counted: UInt32, shared: Bool = false) throws -> String {
    let text = TextRenderer.render(try heldByStack(references: references, counted: counted, shared: shared))
    return text.split(separator: "\n").first { $0.contains("[stack]") }.map(String.init) ?? ""
  }

  @Test func ownersOfWhatAThreadHolds() throws {
    #expect(try Self.line(1, 0) == "    [stack] stack of thread 3, which owns the only reference to App.Owner")
    #expect(try Self.line(2, 1) == "    [stack] stack of thread 3, which owns 1 of the 2 references to App.Owner")
    #expect(try Self.line(3, 0) == "    [stack] stack of thread 3, which owns all 3 references to App.Owner")
    #expect(try Self.line(2, 2) == "    [stack] stack of thread 3, which owns none of the 2 references to App.Owner")
    #expect(try Self.line(1, 1) == "    [stack] stack of thread 3, which does not own the only reference to App.Owner")
    #expect(
      try Self.line(3, 1, shared: true)
        == "    [stack] stack of thread 3: it, or what else names it, owns 2 of the 3 references to App.Owner")
    #expect(
      try Self.line(1, 0, shared: true)
        == "    [stack] stack of thread 3: it, or what else names it, owns the only reference to App.Owner")
    #expect(try Self.line(1, 2) == "    [stack] stack of thread 3", "counts that make no sense say nothing")
  }

  @Test func ownersInTheModel() throws {
    let report = try Self.heldByStack(references: 2, counted: 1, shared: true)
    let root = try #require(report.leaks.first?.retainPath?.first?.root)
    #expect(
      root == PathStep.Root(kind: "stack", name: "stack of thread 3", references: 2, owned: 1, shared: true))
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
    #expect(try Self.heldByStack(references: 2, counted: 1).leaks[0].signature == report.leaks[0].signature)
  }

  @Test func ownersOfWhatIsNotShownSayNothing() throws {
    var heap = SyntheticHeap()
    let block = heap.node("malloc block", kind: .other, state: .live)
    let owner = heap.object("App.Owner", state: .live, at: Scenario.site("App.open()", 12))
    let item = heap.object("App.Item", state: .live, at: Scenario.site("App.add()", 13))
    heap.link(block, "+0", owner)
    heap.link(owner, "item", item)
    heap.watch(item, scope: "Screen", rootKind: 2, root: "stack of thread 3", thread: 3, path: [block, owner, item])
    heap.own(references: 2, counted: 1)
    let root = try #require(heap.report().leaks.first?.retainPath?.first?.root)
    #expect(root == PathStep.Root(kind: "stack", name: "stack of thread 3", evidence: "words"))
  }

  @Test func cycleThatOnlyAFrameNames() throws {
    let heap = Scenario.cyclesOfFrames()
    #expect(
      try heap.text(stacks: false) == """
        SUSPECT 1 of 1  retain cycle of App.Parent and App.Child held only by a word on a thread's stack, 2 times  (192 bytes)

            [stack] stack of thread 11, which does not own the only reference to App.Parent
            App.Parent
              .child → App.Child
              .parent → App.Parent  ↺
              ^^^^^^^

          allocated  in App.load() at /app/main.swift:31
          advice     nothing else owns these objects, they only hold each other: unless that function of the thread still
                     uses them, they have leaked; `parent` of App.Child seems to refer back to what holds it: declare it
                     `weak` (`unowned` if it never outlives that object)

        undead: no leaks, 1 suspect

        """)
    let report = try heap.report()
    let suspect = try #require(report.suspects.first)
    #expect(suspect.kind == .thread && suspect.count == 2)
    #expect(suspect.cycle?.map(\.field) == ["child", "parent"])
    #expect(suspect.retainPath.map(\.type) == ["App.Parent"])
    #expect(!report.fails() && !report.fails(on: [.leaks, .zombies, .known, .incomplete]))
    #expect(report.fails(on: [.suspects]))
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
  }

  @Test func signatureIsThatOfTheLeak() throws {
    var leaked = Scenario.cyclesOfFrames().built
    for node in leaked.nodes.indices where leaked.nodes[node].type != Snapshot.none {
      leaked.nodes[node].state = leaked.types[Int(leaked.nodes[node].type)].kind == .object ? .leaked : .support
    }
    leaked.suspects = []
    let leaks = LeakReport(analyzing: [ReportInput(leaked)]).leaks
    let suspects = try Scenario.cyclesOfFrames(threads: [77, 3]).report().suspects
    #expect(suspects.map(\.signature) == leaks.filter { $0.cycle?.count == 2 }.map(\.signature))
  }

  @Test func whatOutlivesItsScopeIsNoSuspect() throws {
    var heap = Scenario.cyclesOfFrames(threads: [11])
    heap.watch(1, scope: "Screen", rootKind: 2, root: "stack of thread 11", thread: 11, path: [0, 1])
    let report = try heap.report()
    #expect(report.suspects.isEmpty && report.leaks.map(\.kind) == [.abandoned])
  }
}

/// How many references there are to the object of a finding, and whose they are: "who is the third?"
@Suite struct ReferenceCountTests {
  /// An object that a global's cache, a screen's array and a closure hold.
  private static func abandoned(references: UInt16, namedBy: UInt32 = 0) throws -> LeakReport {
    var heap = SyntheticHeap()
    let cache = heap.object("App.Cache", state: .live)
    let screen = heap.object("App.Screen", state: .live)
    let items = heap.toolchain("Swift._ContiguousArrayStorage<App.Item>", state: .live)
    let context = heap.context(state: .live)
    let item = heap.object("App.Item", state: .live, at: Scenario.site("App.add()", 13))
    heap.link(cache, "latest", item)
    heap.link(screen, "items", items)
    heap.retain(items, references: 1)
    heap.link(items, "[3]", item)
    heap.link(items, "[4]", item)
    heap.link(screen, "onEnd", context, type: "() -> ()")
    heap.retain(context, references: 1)
    heap.link(context, "captured 0", item)
    heap.retain(item, references: references, namedBy: namedBy)
    for node in [screen, items, context] { heap.markHolder(node) }
    heap.watch(item, scope: "Screen", rootKind: 1, root: "App.cache", path: [cache, item])
    return try heap.report()
  }

  private static func line(_ report: LeakReport) -> String? {
    TextRenderer.render(report).split(separator: "\n").first { $0.hasPrefix("  references ") }.map(String.init)
  }

  @Test func holdersByField() throws {
    let report = try Self.abandoned(references: 4)
    let references = try #require(report.leaks.first?.references)
    #expect(references.total == 4 && references.found == 4 && references.candidates == nil)
    #expect(
      references.holders.map { "\($0.type).\($0.field) \($0.count)" } == [
        "App.Screen.items[] 2", "App.Cache.latest 1", "App.Screen.onEnd 1",
      ])
    #expect(
      Self.line(report)
        == "  references 4 to App.Item, 4 found: `items[]` of App.Screen (2), `latest` of App.Cache, `onEnd` of App.Screen"
    )
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
  }

  @Test func whoIsTheFifth() throws {
    let start =
      "  references 5 to App.Item, 4 found: `items[]` of App.Screen (2), `latest` of App.Cache, `onEnd` of App.Screen, 1 "
    #expect(
      try Self.line(Self.abandoned(references: 5))
        == start + "by nobody: a retain without a release (Unmanaged, or C code that got the object)")
    #expect(
      try Self.line(Self.abandoned(references: 5, namedBy: 4))
        == start + "that no field has, where a global variable names it")
    #expect(
      try Self.line(Self.abandoned(references: 5, namedBy: 14))
        == start + "that no field has, where a global variable and a thread's stack and memory of no known type name it"
    )
    let report = try Self.abandoned(references: 5, namedBy: 12)
    #expect(report.leaks.first?.references?.candidates == ["global", "thread"])
  }

  /// An object that a holder's field names which the scan does not understand, and that a counted field of another one may hold.
  private static func uncounted(by holder: String, field: String, and other: String? = nil) throws -> String? {
    var heap = SyntheticHeap()
    let kind: Snapshot.Kind = holder == "Task" ? .task : .object
    let first = heap.node(holder, kind: kind, state: .live, program: kind == .object)
    let item = heap.object("App.Item", state: .live, at: Scenario.site("App.add()", 13))
    if let other {
      let second = other == holder ? first : heap.object(other, state: .live)
      heap.link(second, "item", item)
      if second != first { heap.markHolder(second) }
    }
    heap.retain(item, references: other == nil ? 1 : 2, namedBy: 2)
    heap.link(first, field, item)
    heap.watch(item, scope: "Screen", rootKind: 1, root: "App.cache", path: [first, item])
    return try line(heap.report())
  }

  @Test func theReferenceThatIsDrawnIsFound() throws {
    #expect(try Self.uncounted(by: "App.Cache", field: "state") == nil)
    #expect(
      try Self.uncounted(by: "App.Cache", field: "state", and: "App.Screen")
        == "  references 2 to App.Item, 2 found: `item` of App.Screen, `state` of App.Cache")
    #expect(
      try Self.uncounted(by: "App.Cache", field: "+24")
        == "  references 1 to App.Item, 0 found: 1 that no field has, where memory of no known type names it")
    #expect(
      try Self.uncounted(by: "Task", field: "async frame", and: "Task")
        == "  references 2 to App.Item, 1 found: `item` of Task, 1 most likely by the frames of the waiting task")
  }

  @Test func countsThatMakeNoSenseSayNothing() throws {
    #expect(try Self.abandoned(references: 3).leaks.first?.references == nil)
    #expect(try Self.abandoned(references: 0).leaks.first?.references == nil)
    #expect(try Self.abandoned(references: .max).leaks.first?.references == nil)
  }

  /// Those who are listed as holders must not become a way that an explanation takes.
  @Test func holdersChangeNoPath() throws {
    #expect(try Self.abandoned(references: 4).leaks.first?.retainPath?.map(\.type) == ["App.Cache", "App.Item"])
    var heap = SyntheticHeap()
    let nodes = ["App.Clock", "App.A", "App.B", "Foundation.Timer"].map { heap.object($0, state: .live) }
    for (from, to) in zip(nodes, nodes.dropFirst()) { heap.link(from, "next", to) }
    let holder = heap.object("App.Holder", state: .live)
    heap.markHolder(holder)
    heap.link(nodes[0], "holder", holder)
    heap.link(holder, "timer", nodes[3])
    heap.link(nodes[3], "target", nodes[0])
    heap.suspect(1, nodes[0], by: nodes[3], root: "loop", path: [nodes[3], nodes[0]])
    #expect(try heap.report().suspects.first?.holdsBack?.map(\.field) == ["next", "next", "next"])
  }

  @Test func aCycleThatIsRetainedOnceMoreSaysSo() throws {
    func line(_ references: UInt16) throws -> String? {
      var heap = Scenario.delegate()
      heap.retain(0, references: references)
      return Self.line(try heap.report())
    }
    #expect(try line(1) == nil, "the cycle says it all")
    #expect(
      try line(2)
        == "  references 2 to App.Loader, 1 found: `loader` of App.Screen, 1 by nobody: a retain without a release (Unmanaged, or C "
        + "code that got the object)")
  }

  @Test func whatNothingRefersToIsRetainedMoreThanOnce() throws {
    func line(_ references: UInt16) throws -> String? {
      var heap = SyntheticHeap()
      let node = heap.object("App.Node")
      heap.retain(node, references: references)
      return Self.line(try heap.report())
    }
    #expect(try line(1) == nil)
    #expect(try line(3)?.contains("references 3 to App.Node, 0 found: 3 by nobody: retains without a release") == true)
  }
}
