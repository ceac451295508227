import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadReport

@Suite struct SignatureTests {
  static let scenarios: [@Sendable () -> SyntheticHeap] = [
    Scenario.pair, Scenario.ownClosure, Scenario.children, Scenario.dictionary, Scenario.task, Scenario.shortest,
    Scenario.suspects,
  ]

  @Test func signaturesAreWhatTheyWere() throws {
    // Of an older report that someone compares with: change them only with the schema's history.
    let report = try Scenario.pair().report()
    #expect(report.leaks.map(\.signature) == ["4b271d5925a950b3"])
  }

  @Test func closureOfAsynchronousTopLevelCodeIsKnown() throws {
    var heap = SyntheticHeap()
    let site: [SyntheticHeap.Function] = [.system("swift_allocObject"), .app("async_MainTY1_", "/app/main.swift")]
    _ = heap.toolchain("closure context (captures a function)", at: site)
    let own = heap.toolchain("closure context (captures App.Owner)", at: site)
    heap.link(own, "captured App.Owner", heap.object("App.Owner"))
    let report = try heap.report()
    #expect(report.knownLeaks.map(\.count) == [1] && report.leaks.count == 1)
    #expect(report.knownLeaks.first?.reason?.contains("top-level code") ?? false)
  }

  /// Foundation keeps the block of a timer for good: with nothing in it that the program could let go, that is known.
  @Test(arguments: [true, false])
  func timerWhoseBlockHoldsNothingIsKnown(holdsNothing: Bool) throws {
    var heap = SyntheticHeap()
    let timer = heap.toolchain("Foundation.Timer", at: Scenario.site("App.Clock.start()", 8))
    let block = heap.node("closure context (captures weak App.Clock?)", kind: .context, program: true)
    heap.link(timer, "_fire", block)
    if holdsNothing {
      heap.link(block, "captured", heap.object("App.Clock", state: .live), weak: true)
    } else {
      heap.link(block, "captured", heap.object("App.Clock"))
    }
    let report = try heap.report()
    #expect(report.knownLeaks.count == (holdsNothing ? 1 : 0))
    #expect(report.leaks.count == (holdsNothing ? 0 : 1))
  }

  @Test func callersOfTheAllocatingFunctionMakeOneGroup() throws {
    var heap = SyntheticHeap()
    for caller in ["App.first()", "App.second()", "App.third()", "App.first()"] {
      var site = Scenario.site("App.grab()", 7)
      site.insert(.app(caller, "/app/main.swift", caller.count), at: 2)
      _ = heap.object("App.Lost", at: site)
    }
    let report = try heap.report()
    let leak = try #require(report.leaks.first)
    #expect(report.leaks.count == 1 && leak.count == 4 && leak.allocationPaths == 3)
    let text = TextRenderer.render(report)
    #expect(text.contains("also from App.second() at /app/main.swift:12\n"))
    #expect(text.contains("also from App.third() at /app/main.swift:11\n"))
    #expect(!text.contains("other way"))
  }

  @Test func callsOnOneLineAreOneWay() throws {
    func stack(_ offset: Int) -> Backtrace {
      Backtrace(frames: [
        Frame(symbol: "App.Lost.__allocating_init()", file: "/app/main.swift", module: "App", offset: UInt64(offset)),
        Frame(symbol: "App.grab()", file: "/app/main.swift", line: 7, module: "App", offset: UInt64(offset + 1)),
      ])
    }
    #expect(stack(16) != stack(32) && stack(16).callPath == stack(32).callPath)
  }

  /// The same leak at other addresses, with its nodes in another order and at another element.
  @Test func signatureDoesNotDependOnAddressesOrOrder() throws {
    func heap(base: UInt64, fillers: Int, reversed: Bool) throws -> LeakReport {
      var heap = SyntheticHeap(base: base)
      for _ in 0..<fillers { _ = heap.toolchain("Swift.__StringStorage") }
      let parent: Int
      let storage: Int
      if reversed {
        storage = heap.toolchain("Swift._ContiguousArrayStorage<App.Node>")
        parent = heap.object("App.Node", at: Scenario.site("App.grow()", reversed ? 51 : 50))
      } else {
        parent = heap.object("App.Node", at: Scenario.site("App.grow()", 50))
        storage = heap.toolchain("Swift._ContiguousArrayStorage<App.Node>")
      }
      let child = heap.object("App.Leaf")
      heap.link(parent, "children", storage)
      heap.link(storage, "[\(fillers)]", child)
      heap.link(child, "parent", parent)
      return try heap.report()
    }
    let first = try heap(base: 0x5500_0000_0000, fillers: 0, reversed: false)
    let second = try heap(base: 0x5601_2345_6000, fillers: 3, reversed: true)
    let signature = try #require(first.leaks.first { $0.kind == .retainCycle }?.signature)
    #expect(second.leaks.first { $0.kind == .retainCycle }?.signature == signature)
    #expect(signature.count == 16)
    #expect(signature.allSatisfy { $0.isHexDigit })
  }

  @Test func leaksFromOtherFunctionsAreOtherGroups() throws {
    var heap = SyntheticHeap()
    for function in ["App.a()", "App.b()"] { _ = heap.object("App.Item", at: Scenario.site(function, 1)) }
    #expect(try heap.report().leaks.count == 2)
  }

  @Test func depthOfRecursionMakesNoGroups() throws {
    var heap = SyntheticHeap()
    let step = SyntheticHeap.Function.app("App.recurse()", "/app/main.swift", 7)
    for depth in 1...4 {
      _ = heap.object("App.Item", at: [SyntheticHeap.Function](repeating: step, count: depth) + [Scenario.main])
    }
    #expect(try heap.report().leaks.map(\.count) == [4])
  }

  @Test func nameOfLocalTypeIsTheSameInEveryRun() {
    #expect(NodeNames.clean("App.(unknown context at $5581ab).Hidden") == "App.Hidden")
    #expect(
      NodeNames.clean("Swift.Array<App.(unknown context at $1).A<App.(unknown context at $2).B>>")
        == "Swift.Array<App.A<App.B>>")
    #expect(NodeNames.clean("App.(unknown context at $55") == "App.(unknown context at $55")
  }

  @Test func indicesAreNoPartOfAField() {
    #expect(NodeNames.withoutIndices("items[12].next") == "items[].next")
    #expect(NodeNames.withoutIndices("a[b[1]]c]d") == "a[]c]d")
    #expect(NodeNames.withoutIndices("plain") == "plain")
  }

  @Test(arguments: scenarios.indices)
  func sameSnapshotSameReport(scenario: Int) throws {
    let snapshot = Self.scenarios[scenario]().built
    let reports = (0..<3).map { _ in LeakReport(analyzing: [ReportInput(snapshot)]) }
    #expect(try Set(reports.map { try JSONRenderer.render($0) }).count == 1)
  }
}

@Suite struct GraphTests {
  @Test func componentsAndTheirOrder() throws {
    var heap = SyntheticHeap()
    let nodes = (0..<5).map { heap.object("App.N\($0)") }
    for (from, to) in [(0, 1), (1, 2), (2, 1), (2, 3), (3, 4), (4, 3)] { heap.link(nodes[from], "f", nodes[to]) }
    let graph = LeakGraph(heap.built)
    let components = Components(graph)
    #expect(components.count == 3)
    #expect(components.component[1] == components.component[2])
    #expect(components.component[3] == components.component[4])
    #expect(components.component[0] > components.component[1])
    #expect(components.component[1] > components.component[3])
    #expect(Array(components[Int(components.component[3])]) == [3, 4])
  }

  @Test func leastRotationIsThatOfEveryRotation() {
    var random = SeededGenerator(seed: 3)
    for _ in 0..<300 {
      let count = Int.random(in: 1...9, using: &random)
      let keys = (0..<count).map { _ in Int.random(in: 0...1, using: &random) }
      func rotated(_ start: Int) -> [Int] { (0..<count).map { keys[(start + $0) % count] } }
      let least = (0..<count).map(rotated).min { $0.lexicographicallyPrecedes($1) }
      #expect(rotated(CyclicOrder.leastRotation(keys, by: <)) == least)
      let period = (1...count).first { rotated($0) == keys }
      #expect(CyclicOrder.period(keys) == period)
    }
  }

  /// The search against the plain truth: in a small graph of named fields, the fewest references win.
  @Test func shortestCycleIsShortest() {
    var random = SeededGenerator(seed: 4)
    for _ in 0..<200 {
      let count = Int.random(in: 1...7, using: &random)
      var heap = SyntheticHeap()
      let nodes = (0..<count).map { heap.object("App.N\($0)") }
      var distance = [[Int]](repeating: [Int](repeating: 99, count: count), count: count)
      for from in nodes {
        for to in nodes where Int.random(in: 0..<4, using: &random) == 0 {
          heap.link(from, "f\(to)", to)
          distance[from][to] = 1
        }
      }
      for k in nodes {
        for i in nodes { for j in nodes { distance[i][j] = min(distance[i][j], distance[i][k] + distance[k][j]) } }
      }
      let graph = LeakGraph(heap.built)
      let components = Components(graph)
      let names = NodeNames(heap.built)
      let frames = FrameNames(heap.built, symbols: SymbolTable())
      let keys = CanonicalKeys(heap.built, graph, names, frames)
      var finder = CycleFinder(graph, components, names, keys, NodeLooks(graph, keys))
      for component in 0..<components.count {
        let members = components[component].map(Int.init)
        let shortest = members.map { distance[$0][$0] }.min() ?? 99
        let cycle = finder.cycle(in: component)
        #expect(cycle.count == (shortest == 99 ? 0 : shortest))
        for (edge, next) in zip(cycle, cycle.dropFirst() + cycle.prefix(1)) {
          #expect(graph.end(of: edge) == graph.source(of: next))
        }
      }
    }
  }

  @Test func everyLeakedBlockBelongsToOneLeak() throws {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<50 {
      var heap = SyntheticHeap()
      let nodes = (0..<20).map { heap.object("App.N\($0 % 3)", size: UInt64(16 + $0)) }
      for _ in 0..<25 {
        heap.link(nodes.randomElement(using: &random)!, "f", nodes.randomElement(using: &random)!)
      }
      let report = try heap.report()
      #expect(report.summary.leakedObjects == 20)
      #expect(report.summary.leakedBytes == (0..<20).reduce(0) { $0 + 16 + $1 })
    }
  }

  @Test func weakAndImpliedReferencesMakeNoCycle() throws {
    var heap = SyntheticHeap()
    let a = heap.object("App.A")
    let b = heap.object("App.B")
    heap.link(a, "b", b)
    heap.link(b, "a", a, weak: true)
    let token = heap.object("App.C")
    heap.link(token, "token", token, implied: true)
    #expect(try heap.report().leaks.allSatisfy { $0.kind == .unreferenced && $0.cycle == nil })
  }

  /// What a suspended task holds of itself is no cycle that the program made.
  @Test func taskThatHoldsItsContinuationIsUnreferenced() throws {
    var heap = SyntheticHeap()
    let task = heap.node("Task", kind: .task)
    let canary = heap.toolchain("Swift.CheckedContinuationCanary")
    heap.link(task, "async frame", canary)
    heap.link(canary, "+16", task)
    let leak = try #require(try heap.report().leaks.first)
    #expect(leak.kind == .unreferenced)
    #expect(leak.objects.first?.type == "Task")
    let owner = heap.object("App.Owner")
    heap.link(task, "async frame", owner)
    heap.link(owner, "task", task)
    #expect(try heap.report().leaks.map(\.kind) == [.retainCycle])
  }

  @Test func sizesThatOverflowAreCut() throws {
    var heap = SyntheticHeap()
    for _ in 0..<3 { _ = heap.object("App.A", size: .max) }
    #expect(try heap.report().summary.leakedBytes == .max)
  }
}

@Suite struct AdviceTests {
  static func advice(_ heap: SyntheticHeap) throws -> String {
    try #require(try heap.report().leaks.first?.advice)
  }

  /// An object that refers to itself by a field, through a node of the given kind if there is one.
  static func loop(_ field: String, type: String, through kind: Snapshot.Kind? = nil) -> SyntheticHeap {
    var heap = SyntheticHeap()
    let object = heap.object("App.Owner")
    if let kind {
      let middle = heap.node("", kind: kind, state: kind == .other ? .raw : .leaked)
      heap.link(object, field, middle, type: type)
      heap.link(middle, "+0", object)
    } else {
      heap.link(object, field, object, type: type)
    }
    return heap
  }

  @Test func closureWhoseFunctionIsNotKnown() throws {
    let heap = Self.loop("load", type: "@Sendable () async -> ()")
    #expect(
      try Self.advice(heap)
        == "closure stored in `load` strongly captures App.Owner, which holds it: name the variable that refers to it in the "
        + "capture list, with `weak` before it")
    #expect(try heap.text().contains("      .load → closure\n      ^^^^^\n          captures → App.Owner  ↺\n"))
  }

  @Test func unmanagedReference() throws {
    let heap = Self.loop("handle", type: "Swift.Optional<Swift.Unmanaged<App.Owner>>")
    #expect(try Self.advice(heap).hasPrefix("`handle` of App.Owner is an Unmanaged reference that was retained"))
  }

  @Test func memoryOfItsOwn() throws {
    let heap = Self.loop("slots", type: "Swift.UnsafeMutablePointer<App.Owner>", through: .other)
    #expect(try Self.advice(heap).hasPrefix("`slots` of App.Owner points to memory that holds its owner"))
  }

  @Test func variableOfTheClosure() throws {
    var heap = SyntheticHeap()
    let button = heap.object("App.Button")
    let context = heap.context()
    let box = heap.context("box of App.Button")
    heap.link(button, "action", context, closure: Scenario.closure("App.make()", 1))
    heap.link(context, "captured variable 1", box)
    heap.link(box, "value", button)
    #expect(
      try Self.advice(heap)
        == "closure stored in `action` strongly captures the variable that refers to its owner: name the variable that "
        + "refers to it in the capture list, with `weak` before it")
  }

  @Test func memberOfACollection() throws {
    var heap = SyntheticHeap()
    let bank = heap.object("App.Bank")
    let storage = heap.toolchain("Swift._DictionaryStorage<Swift.Int, App.Account>")
    let account = heap.object("App.Account")
    heap.link(bank, "accounts", storage)
    heap.link(storage, "[value]", account)
    heap.link(account, "bank", bank)
    #expect(
      try Self.advice(heap)
        == "`bank` of App.Account refers back to what holds it in `accounts`: declare it `weak` (`unowned` if it never "
        + "outlives that object)")
    #expect(try heap.report().leaks[0].objects[0].type == "App.Bank")
  }

  @Test func endlessStream() throws {
    var heap = SyntheticHeap()
    let stream = SyntheticHeap.Function.system("Swift.AsyncStream.Iterator.next()", "libswift_Concurrency.so")
    _ = heap.node("Task", kind: .task, waiting: [stream, .app("App.read()")])
    #expect(try Self.advice(heap).hasPrefix("the task waits in App.read() for a stream that nothing can feed"))
  }

  @Test func everySuspectHasAdvice() throws {
    let suspects = try Scenario.suspects().report().suspects
    #expect(suspects.count == 4)
    #expect(
      suspects.allSatisfy { suspect in
        ["`self` weakly", "`self?`"].contains { suspect.advice?.contains($0) ?? false }
      })
  }
}
