import Testing

@testable import UndeadReport

/// Nothing that owns, and nothing that is not the user's, is to be made weak by advice; what waits is to be woken.
@Suite struct OwningAdviceTests {
  // MARK: Cycles

  private static func cycle(_ fields: [(type: String, field: String)]) throws -> String? {
    var heap = SyntheticHeap()
    let nodes = fields.map { heap.object($0.type, at: Scenario.site("App.start()", 12)) }
    for (index, pair) in fields.enumerated() { heap.link(nodes[index], pair.field, nodes[(index + 1) % nodes.count]) }
    return try heap.report().leaks.first?.advice
  }

  @Test func referencesThatSeemToOwnAreToBeEnded() throws {
    #expect(
      try Self.cycle([("App.Sink", "subscription"), ("App.Inner", "downstream")])
        == "these references all seem to own their objects: when the objects are done set one to nil, or call what ends "
        + "it (cancel, finish); make one `weak` only if it is not meant to own: `App.Sink.subscription`, "
        + "`App.Inner.downstream`")
    #expect(
      try Self.cycle([("App.Node", "next"), ("App.Node", "next")])
        == "`App.Node.next` seems to own its object: when the objects are done set it to nil, or call what ends it "
        + "(cancel, finish); make it `weak` only if it is not meant to own")
  }

  @Test func theReferenceThatDoesNotSeemToOwnIsNamed() throws {
    #expect(
      try Self.cycle([("App.Sink", "subscription"), ("App.Inner", "sink")])
        == "`App.Inner.sink` is most likely the reference that does not own its object: make it `weak` or `unowned`, or "
        + "set it to nil when the objects are done")
  }

  @Test(arguments: [
    ("tree.node.0", "give `tree` another value"), ("state.owner", "set it to nil"), ("0", "set it to nil"),
  ])
  func whatAnEnumHoldsIsReplaced(field: String, remedy: String) throws {
    #expect(
      try Self.cycle([("App.Owner", field)])?.hasPrefix("`\(field)` refers to the object itself: \(remedy)") ?? false)
  }

  // MARK: Tasks

  private static func waiting(_ frames: [SyntheticHeap.Function]) throws -> String? {
    var heap = SyntheticHeap()
    let task = heap.node("Task", kind: .task, state: .live, waiting: frames + [.app("App.Poller.run()", "/a.swift", 7)])
    let poller = heap.object("App.Poller", state: .suspect, at: Scenario.site("App.poll()", 9))
    heap.link(task, "async frame", poller)
    heap.link(poller, "task", task)
    heap.suspect(4, poller, by: task, root: "$s3App6pollerAA6PollerCvp", path: [task, poller])
    return try heap.report().suspects.first?.advice
  }

  @Test func aContinuationIsToBeResumed() throws {
    let wait = SyntheticHeap.Function.system("Swift.withCheckedContinuation(isolation:function:_:)")
    #expect(
      try Self.waiting([wait])
        == "the task waits in App.Poller.run() for a continuation, and holds the object that holds it in `task`: resume "
        + "it exactly once on every path, also when the owner is done or the task is cancelled "
        + "(withTaskCancellationHandler); a weak `self` would not wake the task")
    #expect(
      try Self.waiting([])
        == "the task waits in App.Poller.run(), and this call keeps the object that holds the task in `task`, as after "
        + "`guard let self` or in a method of it: use `self?` for one step at a time inside the loop, or cancel the task "
        + "when the owner is done (not in its deinit, which the task prevents)")
  }

  private static func ofDeadOwner(_ kind: UInt32, _ fields: (name: String, type: String)...) throws -> String? {
    var heap = SyntheticHeap()
    let runner = heap.node("Task", kind: .task, state: .live)
    let closure = heap.object("closure context", state: .suspect, at: Scenario.site("App.poll()", 9))
    heap.link(runner, "async frame", closure)
    heap.suspect(kind, closure, by: runner, root: "$s3App6pollerAA6PollerCvp", path: [runner, closure])
    heap.ownerField(closure, "App.Model<Swift.Int>")
    for field in fields { heap.ownerField(closure, "App.Model<Swift.Int>", field.name, field.type) }
    return try heap.report().suspects.first?.advice
  }

  @Test func theFieldThatADeadOwnerShouldHaveCancelled() throws {
    let count = (name: "count", type: "Swift.Int")
    let task = (name: "$__lazy_storage_$_task", type: "Swift.Optional<Swift.Task<(), Swift.Never>>")
    let others = (name: "others", type: "Swift.Array<Swift.Task<(), Swift.Error>>")
    let timer = (name: "timer", type: "Swift.Optional<Dispatch.DispatchSourceTimer>")
    let bag = (name: "bag", type: "Swift.Set<OpenCombine.AnyCancellable>")
    let start = "the object that the task works for is gone, and did not cancel it: "
    let end = "; or leave the loop when `self` is nil, as by `guard let self else { return }` in each step"
    #expect(try Self.ofDeadOwner(6, count, task, timer) == "\(start)cancel `task` of App.Model in its deinit\(end)")
    #expect(
      try Self.ofDeadOwner(6, count, timer)
        == "\(start)keep the task in a field of App.Model, and cancel it in its deinit\(end)")
    #expect(
      try Self.ofDeadOwner(6, task, others)
        == "\(start)cancel the task in the deinit of App.Model, in whichever of these fields it is: `task`, `others`\(end)"
    )
    #expect(
      try Self.ofDeadOwner(7, count, task, timer)?.hasSuffix(": cancel `timer` of App.Model in its deinit") == true)
    #expect(try Self.ofDeadOwner(7, task, bag)?.hasSuffix(": cancel `bag` of App.Model in its deinit") == true)
  }

  // MARK: Paths

  /// The advice where `steps` lead from a global to an object.
  private static func held(by steps: PathStep..., package: String? = nil) -> String? {
    var path = steps + [PathStep(type: "App.Owner", field: "")]
    path[0].root = .init(kind: "global", name: "App.shared")
    path[steps.count - 1].package = package
    return Advice.text(for: path)
  }

  @Test func aFieldIsWeakOnlyWhereItDoesNotOwn() {
    #expect(
      Self.held(by: PathStep(type: "App.Center", field: "delegate"))
        == "`delegate` of App.Center still refers to it: declare it `weak`, or set it to nil when the scope ends")
    for field in ["session", "parent", "current"] {
      #expect(
        Self.held(by: PathStep(type: "App.Center", field: field))
          == "set `\(field)` of App.Center to nil when the scope ends, or declare it `weak` if it does not own the object "
          + "(reached from `App.shared`)")
    }
  }

  @Test func whatALibraryHoldsIsToBeEndedThere() {
    let server = PathStep(type: "App.Server", field: "channels[3]")
    for field in ["delegate", "handlers[3]", "next"] {
      let channel = PathStep(type: "NIOCore.Channel<App.A>", field: field)
      #expect(
        Self.held(by: channel, package: "swift-nio")
          == "NIOCore.Channel (reached from `App.shared`) is swift-nio's and holds it: most likely the call that ends it is "
          + "missing (close, finish, shut down, cancel or invalidate)")
      #expect(
        Self.held(by: server, channel, package: "swift-nio")
          == "NIOCore.Channel, which `channels` of App.Server refers to, is swift-nio's and holds it: most likely the call "
          + "that ends it is missing (close, finish, shut down, cancel or invalidate)")
    }
    #expect(
      Self.held(
        by: PathStep(type: "App.Store", field: "cache"), PathStep(type: "Foundation.NSCache<A, B>", field: "_head"),
        PathStep(type: "Foundation.NSCacheEntry<A, B>", field: "value"))
        == "Foundation.NSCache, which `cache` of App.Store refers to, holds it: undo what gave it the object when the scope "
        + "ends (remove, cancel, invalidate or close)")
  }

  private static func closure(_ type: String, _ field: String, captures: String? = "self") -> PathStep {
    let function = Frame(symbol: "closure #1 in App.Owner.start()", file: "/app/main.swift", line: 3, module: "App")
    return PathStep(type: type, field: field, fieldType: "() -> ()", closure: function, captures: captures)
  }

  @Test func aClosureThatALibraryHoldsIsTheUsersAllTheSame() {
    var step = Self.closure("NIOCore.Channel", "onClose")
    #expect(
      Self.held(by: step, package: "swift-nio")
        == "the closure stored in `onClose` of NIOCore.Channel captures `self` strongly: capture it weakly "
        + "(`[weak self]`), or end what it was given to when the scope ends (close, finish, shut down, cancel or "
        + "invalidate)")
    step.closure?.package = "swift-nio"
    #expect(
      Self.held(by: step, package: "swift-nio")?.hasPrefix("NIOCore.Channel (reached from `App.shared`) is swift-nio's")
        ?? false)
  }

  @Test func aClosureInACollectionIsRemovedFromThere() {
    #expect(
      Self.held(by: Self.closure("App.Center", "handlers[0]", captures: "screen"))
        == "the closure stored in `handlers` of App.Center captures `screen` strongly: capture it weakly "
        + "(`[weak screen]`), or remove it from `handlers` when the scope ends")
  }

  @Test(arguments: ["Swift.CheckedContinuationCanary", "App.Loader"])
  func aTaskThatWaitsForAContinuationIsToBeWoken(holder: String) {
    let continuation = PathStep(type: holder, field: "waiter", fieldType: "Swift.UnsafeContinuation<(), Swift.Never>")
    #expect(
      Self.held(by: continuation, PathStep(type: "Task", field: "async frame"))
        == "a task that waits for a continuation holds it: resume the continuation exactly once on every path, also when "
        + "the scope ends or the task is cancelled (withTaskCancellationHandler); a weak `self` would not wake the task"
    )
    #expect(
      Self.held(by: PathStep(type: "App.Loader", field: "work"), PathStep(type: "Task", field: "async frame"))
        == "a task that has not ended holds it: cancel the task when the scope ends, or capture `self` weakly in it")
  }

  @Test func aBoxHoldsAValueOfTheUsers() {
    #expect(
      Self.held(
        by: PathStep(type: "NIOConcurrencyHelpers.LockStorage<App.State>", field: "value.current"), package: "swift-nio"
      )
        == "set `value.current` of NIOConcurrencyHelpers.LockStorage<App.State> to nil when the scope ends, or declare it "
        + "`weak` if it does not own the object (reached from `App.shared`)")
  }
}
