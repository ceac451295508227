import Testing
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap
@testable import UndeadHeapReport

@Suite struct FindingTests {
  func findings(_ heap: HeapBuilder) throws -> [HeapFinding] {
    let heap = try LoadedHeap(heap.file())
    return HeapFinding.findings(in: heap, HeapSymbols(heap, nil))
  }

  func texts(_ heap: HeapBuilder) throws -> [String] {
    try findings(heap).map { finding in
      let container = finding.container.map { " in \($0.type).\($0.field)" } ?? ""
      return "\(finding.kind.rawValue) \(finding.objects) \(finding.bytes) \(finding.type)\(container)"
    }
  }

  private static let array = "Swift._ContiguousArrayStorage<Swift.Int>"

  // MARK: Capacity

  private func collection(_ type: String, used: UInt64, capacity: UInt64, size: UInt64) -> HeapBuilder {
    var heap = HeapBuilder()
    let owner = heap.object("App.Owner")
    heap.link(owner, "items", heap.object(type, size: size, use: (used, capacity)))
    heap.global("App.owner", holds: owner)
    return heap
  }

  @Test func emptyCapacityIsTold() throws {
    let size: UInt64 = 1 << 20
    #expect(
      try texts(collection(Self.array, used: 10, capacity: 131_000, size: size)) == [
        "emptyCapacity 1 1048495 \(Self.array) in App.Owner.items"
      ])
    // A quarter in use is what is left after an array has grown and shrunk a little.
    #expect(try texts(collection(Self.array, used: 32_751, capacity: 131_000, size: size)).isEmpty)
    #expect(try texts(collection(Self.array, used: 10, capacity: 12_000, size: 96_000)).isEmpty)
  }

  @Test func manySmallCollectionsOfAFieldCount() throws {
    var heap = HeapBuilder()
    let all = heap.object("Swift._ContiguousArrayStorage<App.Owner>", size: 80_032, use: (1000, 10_000))
    for _ in 0..<1000 {
      let owner = heap.object("App.Owner")
      heap.link(all, "[]", owner)
      heap.link(owner, "items", heap.object(Self.array, size: 1024, use: (1, 124)))
    }
    heap.global("App.all", holds: all)
    #expect(try texts(heap) == ["emptyCapacity 1000 1015000 \(Self.array) in App.Owner.items"])
  }

  // MARK: Slices

  private static let size: UInt64 = 1 << 20

  /// A string of a megabyte, of which a part is held.
  private func substring(
    start: UInt64 = 0x14_0107, end: UInt64 = 0x32_0107,
    others: (inout HeapBuilder, HeapBuilder.Block) -> Void = { _, _ in }
  ) throws -> [String] {
    var heap = HeapBuilder()
    let owner = heap.object("App.Owner")
    let text = heap.object("Swift.__StringStorage", size: Self.size, use: (1_000_000, 1_048_500))
    let words: [UInt64] = [start, end, 0xF000_0000_0000_0000 | 1_000_000, heap.address(text), 0, 0, 0]
    heap.link(owner, "name", text, type: "Swift.Substring", neighbours: words)
    others(&heap, text)
    heap.global("App.owner", holds: owner)
    return try texts(heap)
  }

  @Test func aSubstringOfALargeString() throws {
    let told = ["sliceOfLargeBuffer 1 1048545 Swift.__StringStorage in App.Owner.name"]
    #expect(try substring() == told)
    // Of its view of UTF-8, no index of which need be that of a scalar.
    #expect(try substring(start: 0x14_0004, end: 0x32_0004) == told)
  }

  @Test func whatIsNoSmallSliceIsNotTold() throws {
    // Half of the string.
    #expect(try substring(end: 500_000 << 16 | 0x107).isEmpty)
    // No indices: numbers before a string.
    #expect(try substring(start: 0x14_0000, end: 0x32_0000).isEmpty)
    #expect(try substring(start: 0x32_0107, end: 0x14_0107).isEmpty)
    // Somebody has the string itself.
    #expect(
      try substring { heap, text in
        let other = heap.object("App.Other")
        heap.link(other, "text", text, type: "Swift.String")
        heap.global("App.other", holds: other)
      }.isEmpty)
    #expect(try substring { heap, text in heap.setStrong(text, 2) }.isEmpty)
    #expect(try substring { heap, text in heap.global("App.text", holds: text) }.isEmpty)
  }

  @Test func slicesOfArraysAndData() throws {
    var heap = HeapBuilder()
    let owner = heap.object("App.Owner", size: 256)
    let array = heap.object(Self.array, size: Self.size, use: (131_000, 131_068))
    let start = heap.address(array)
    for (number, first) in [UInt64(5), 100].enumerated() {
      heap.link(
        owner, "part\(number)", array, type: "Swift.ArraySlice<Swift.Int>", offset: UInt32(16 + 32 * number),
        neighbours: [0, 0, 0, start, start + 32, first, (first + 10) << 1 | 1])
    }
    let data = heap.object("Foundation.__DataStorage", size: 80, use: (900_000, 1_000_000))
    heap.link(data, "_bytes", heap.foreign(size: 1_000_016), strength: HeapFile.Strength.raw)
    heap.link(
      owner, "head", data, strength: HeapFile.Strength.raw, type: "Foundation.Data", offset: 128,
      neighbours: [0, 0, 50 << 32 | 10, 1 << 62 | heap.address(data), 0, 0, 0])
    heap.setStrong(data, 1)
    heap.global("App.owner", holds: owner)
    #expect(
      try texts(heap) == [
        "sliceOfLargeBuffer 1 1048415 \(Self.array) in App.Owner.part0",
        "sliceOfLargeBuffer 1 1000055 Foundation.__DataStorage in App.Owner.head",
      ])
  }

  @Test func slicesInVariablesAndOnStacks() throws {
    let words = { (address: UInt64) -> [UInt64] in
      [0x14_0107, 0x32_0107, 0x3000_0000_0000_0000 | 1_000_000, address, 0, 0, 0]
    }
    func text(_ heap: inout HeapBuilder) -> HeapBuilder.Block {
      heap.object("Swift.__StringStorage", size: Self.size, use: (1_000_000, 1_048_500))
    }
    var heap = HeapBuilder()
    let (first, second, third) = (text(&heap), text(&heap), text(&heap))
    heap.hold(heap.root(HeapFile.Root.global, "App.head"), first, words: words(heap.address(first)))
    let stack = heap.root(HeapFile.Root.stack, "main thread", thread: 1)
    heap.hold(stack, second, words: words(heap.address(second)))
    // A word without a slice around it, and a variable's slice that accounts for the count.
    heap.hold(stack, first)
    // Here nothing else accounts for it.
    heap.hold(stack, third, words: words(heap.address(third)))
    heap.hold(heap.root(HeapFile.Root.register, "", thread: 1), third)
    #expect(
      try texts(heap).sorted() == [
        "sliceOfLargeBuffer 1 1048545 Swift.__StringStorage in global App.head.",
        "sliceOfLargeBuffer 1 1048545 Swift.__StringStorage in the stacks of threads.",
      ])
    #expect(try findings(heap).allSatisfy { $0.usedBytes == 30 })
  }

  @Test func slicesOfOwnCollections() throws {
    func found(_ field: String, end: UInt64) throws -> [String] {
      var heap = HeapBuilder()
      let owner = heap.object("App.Owner")
      let array = heap.object(Self.array, size: Self.size, use: (131_000, 131_068))
      heap.link(owner, field, array, neighbours: [0, 3, end, heap.address(array), 0, 0, 0])
      heap.global("App.owner", holds: owner)
      return try texts(heap)
    }
    #expect(
      try found("part[...].storage", end: 6)
        == ["sliceOfLargeBuffer 1 1048551 \(Self.array) in App.Owner.part[...].storage"])
    #expect(try found("part[...].storage", end: 131_001).isEmpty)
    #expect(try found("part[...].storage", end: 100_000).isEmpty)
    #expect(try found("part.storage", end: 6).isEmpty)
  }

  @Test func slicesInFramesOfTasks() throws {
    func found(isNamedElsewhere: Bool) throws -> [HeapFinding] {
      var heap = HeapBuilder()
      let task = heap.object("Task", size: 512, kind: .task, isOfProgram: false)
      let array = heap.object(Self.array, size: Self.size, strong: 1, use: (131_000, 131_068))
      let start = heap.address(array)
      let words: [UInt64] = [0, 0, 0, start, start + 32, 5, 15 << 1 | 1]
      for offset: UInt32 in [256, 320] {
        heap.link(
          task, "async frame", array, strength: HeapFile.Strength.perhaps, offset: offset, neighbours: words)
      }
      if isNamedElsewhere {
        heap.link(task, "async frame", array, strength: HeapFile.Strength.perhaps, offset: 400)
      }
      heap.global("App.task", holds: task)
      return try findings(heap).filter { $0.kind == .sliceOfLargeBuffer }
    }
    // Two copies of one slice show what it does.
    #expect(try found(isNamedElsewhere: false).map(\.usedBytes) == [80])
    #expect(try found(isNamedElsewhere: true).isEmpty)
  }

  @Test func slicesOfByteBuffers() throws {
    func finding(_ low: UInt64, _ high: UInt64) throws -> [HeapFinding] {
      var heap = HeapBuilder()
      let owner = heap.object("App.Frame")
      let storage = heap.object("NIOCore.ByteBuffer._Storage", size: 64, use: (1_000_000, 1_000_000))
      heap.link(storage, "bytes", heap.foreign(size: 1_000_016), strength: HeapFile.Strength.raw)
      heap.link(owner, "head._storage", storage, neighbours: [0, 0, 0, heap.address(storage), low, high, 0])
      heap.global("App.frame", holds: owner)
      return try findings(heap)
    }
    let found = try finding(66_000, 66_001)
    #expect(found.map(\.bytes) == [1_000_078] && found.first?.usedBytes == 1)
    #expect(found.first?.advice.contains("ByteBuffer(bytes:") == true)
    // All of it; not a range at all.
    #expect(try finding(0, 1_000_000).isEmpty)
    #expect(try finding(10, 2_000_000).isEmpty)
    #expect(try finding(0, 0).isEmpty)
  }

  // MARK: Contents

  @Test func equalStringsAreTold() throws {
    var heap = HeapBuilder()
    let storage = heap.object("Swift._ContiguousArrayStorage<App.User>", size: 40_032)
    for number in 0..<5000 {
      let user = heap.object("App.User")
      heap.link(storage, "[]", user)
      let country = heap.object("Swift.__StringStorage", size: 96, use: (60, 64), hash: UInt64(number % 2))
      heap.link(user, "country", country, type: "Swift.String")
      let name = heap.object("Swift.__StringStorage", size: 96, use: (60, 64), hash: UInt64(number) + 100)
      heap.link(user, "name", name, type: "Swift.String")
    }
    heap.global("App.users", holds: storage)
    let found = try findings(heap)
    #expect(try texts(heap) == ["equalStrings 4998 479808 Swift.String in App.User.country"])
    #expect(found.first?.title == "strings repeat 2 different values")
  }

  @Test func equalObjectsOfFoundationAreTold() throws {
    var heap = HeapBuilder()
    let storage = heap.object("Swift._ContiguousArrayStorage<Swift.AnyObject>", size: 40_032)
    let owner = heap.object("App.Owner")
    heap.link(owner, "keys", storage)
    for _ in 0..<3000 {
      let string = heap.object("Foundation.NSString", size: 48)
      heap.link(storage, "[]", string)
      heap.link(string, "_storage", heap.object("Swift.__StringStorage", size: 96, use: (60, 64), hash: 9))
    }
    heap.global("App.owner", holds: owner)
    #expect(try texts(heap) == ["equalBridgedObjects 2999 431856 Foundation.NSString in App.Owner.keys"])
  }

  // MARK: Tasks

  private func waiting(
    _ count: Int, in place: HeapBuilder.Function = .app("App.Gate.wait() async -> ()", "/app/Gate.swift", 7)
  ) throws -> [HeapFinding] {
    var heap = HeapBuilder()
    let owner = heap.object("App.Gate", size: 48)
    let storage = heap.object("Swift._ContiguousArrayStorage<Swift.Continuation>", size: 1024)
    heap.link(owner, "waiting", storage)
    for _ in 0..<count {
      heap.link(storage, "[]", heap.object("Task", size: 208, kind: .task, isOfProgram: false))
    }
    heap.global("App.gate", holds: owner)
    let stack = heap.stack([place])
    let graph = try heap.file().graph()
    heap.waits = [withExtendedLifetime(graph) { .init(shape: graph.shapes[2], stack: stack) }]
    return try findings(heap)
  }

  @Test func tasksThatWaitByTheHundred() throws {
    let found = try #require(try waiting(100).first)
    #expect(found.kind == .waitingTasks && found.objects == 100 && found.bytes == 20_800 && found.type == "Task")
    #expect(found.suspended?.frames.first?.symbol == "App.Gate.wait() async -> ()")
    #expect(
      FindingsText.lines([found], ReportTextOptions()).map(\.plain) == [
        "worth a look", "",
        "  many tasks wait at one place  (100 \u{D7} Task, 20.3 KB)",
        "    in         .waiting of App.Gate",
        "    kept by    global App.gate -> App.Gate .waiting[] -> Task",
        "    wait       in App.Gate.wait() at /app/Gate.swift:7",
        "    advice     if they are more than the work there is, something does not wake them: a continuation that is never",
        "               resumed, a stream that is never finished, a lock or actor that is held",
        "",
      ])
    #expect(try waiting(99).isEmpty)
    // Each `Task.sleep` has one of the runtime's own.
    #expect(try waiting(100, in: .system("completeTask")).isEmpty)
  }

  /// Of a sleep that goes on, the memory that the closure captures begins with its continuation.
  @Test func cancelledSleeps() throws {
    func sleeps(cancelled: Int) throws -> [String] {
      var heap = HeapBuilder()
      for number in 0..<150 {
        let timer = heap.raw(size: 80)
        let runtimes = heap.object("Task", size: 320, kind: .task, isOfProgram: false)
        let operation = heap.object(
          "closure context (captures Swift.UnsafeSleepStateToken)", kind: .context)
        let token = heap.raw()
        heap.link(timer, ".event handler", runtimes, strength: HeapFile.Strength.raw)
        heap.link(runtimes, ".operation", operation, strength: HeapFile.Strength.raw)
        heap.link(operation, "[capture 0]", token, strength: HeapFile.Strength.raw)
        heap.tasks.append(HeapFile.Task(address: heap.address(runtimes)))
        if number >= cancelled {
          let sleeper = heap.object("Task", size: 208, kind: .task, isOfProgram: false)
          heap.link(token, "", sleeper, strength: HeapFile.Strength.raw, offset: 0)
          heap.tasks.append(HeapFile.Task(address: heap.address(sleeper), dependency: .continuation))
        }
        heap.tasks.append(HeapFile.Task(address: heap.address(timer), flags: HeapFile.Task.timer))
        heap.global("timer\(number)", holds: timer)
      }
      return try texts(heap)
    }
    #expect(try sleeps(cancelled: 100) == ["waitingTasks 100 38400 Task"])
    #expect(try sleeps(cancelled: 99).isEmpty)
  }

  // MARK: Containers

  private func cache(sessions: Int, others: Int) throws -> [String] {
    var heap = HeapBuilder()
    let owner = heap.object("App.Cache", size: 48)
    let storage = heap.object("Swift._DictionaryStorage<Swift.String, App.Session>", size: 4096)
    heap.link(owner, "sessions", storage)
    for _ in 0..<sessions { heap.link(storage, "[value]", heap.object("App.Session", size: 1024)) }
    heap.global("App.cache", holds: owner)
    for number in 0..<others { heap.global("App.other\(number)", holds: heap.object("App.Other", size: 1024)) }
    return try texts(heap)
  }

  @Test func aContainerOfMoreThanAThird() throws {
    #expect(
      try cache(sessions: 5000, others: 100) == [
        "dominatingContainer 5000 5124096 Swift._DictionaryStorage<Swift.String, App.Session> in App.Cache.sessions"
      ])
    #expect(try cache(sessions: 5000, others: 12_000).isEmpty)
    #expect(try cache(sessions: 3000, others: 10).isEmpty)
  }

  // MARK: Owners

  private func timer(ownerIsDead: Bool) throws -> [String] {
    var heap = HeapBuilder()
    let timer = heap.object("CFRunLoopTimer", size: 160, isOfProgram: false)
    let foundation = heap.object("Foundation.Timer", size: 64)
    heap.link(timer, "context.info", foundation)
    let context = heap.object("closure context (captures weak App.Owner)", size: 32, kind: .context)
    heap.link(foundation, "_fire", context, closure: .app("closure #1 in App.Owner.start()"))
    let owner = heap.object(
      "App.Owner", size: 48,
      flags: ownerIsDead ? HeapFile.Shape.isDead | HeapFile.Shape.countUnknown : 0)
    heap.link(context, "captured App.Owner", owner, strength: HeapFile.Strength.none)
    heap.global("main run loop", holds: timer)
    if !ownerIsDead { heap.global("App.owner", holds: owner) }
    return try texts(heap)
  }

  @Test func timersOfDeadOwners() throws {
    #expect(try timer(ownerIsDead: true) == ["deadOwner 1 96 App.Owner"])
    #expect(try timer(ownerIsDead: false).isEmpty)
  }

  /// Of an object that only weak references name nothing is left but their table.
  @Test func timersOfOwnersThatAreGone() throws {
    func texts(recordedFromTheStart: Bool) throws -> [String] {
      var heap = HeapBuilder()
      let source = heap.object("dispatch source refs", size: 112, kind: .other, isOfProgram: false)
      let context = heap.object("closure context (captures weak App.Owner)", size: 32, kind: .context)
      heap.link(source, "event handler", context, closure: .app("closure #1 in App.Owner.start()"))
      heap.link(
        context, "captured Swift.Optional<App.Owner>", heap.foreign(size: 40, reached: false),
        strength: HeapFile.Strength.none, type: "Swift.Optional<App.Owner>")
      heap.global("_dispatch_timers_heap", holds: source)
      if !recordedFromTheStart { _ = heap.root(HeapFile.Root.beforeRecording, "memory from before recording") }
      return try self.texts(heap)
    }
    #expect(try texts(recordedFromTheStart: true) == ["deadOwner 1 184 App.Owner"])
    #expect(try texts(recordedFromTheStart: false).isEmpty)
  }

  /// A task that waits, whose closure captured an object weakly.
  @Test(arguments: [true, false]) func tasksOfDeadOwners(_ ownerIsDead: Bool) throws {
    var heap = HeapBuilder()
    let task = heap.object("Task", size: 320, kind: .task, isOfProgram: false)
    let context = heap.object("box of weak App.Owner", size: 32, kind: .context)
    heap.link(task, "operation", context, closure: .app("closure #1 in App.Owner.start()"))
    let owner = heap.object(
      "App.Owner", size: 48,
      flags: ownerIsDead ? HeapFile.Shape.isDead | HeapFile.Shape.countUnknown : 0)
    heap.link(context, "captured App.Owner", owner, strength: HeapFile.Strength.none)
    heap.global("App.feed", holds: task)
    if !ownerIsDead { heap.global("App.owner", holds: owner) }
    let stack = heap.stack([.app("closure #1 in App.Owner.start()")])
    let graph = try heap.file().graph()
    heap.waits = [withExtendedLifetime(graph) { .init(shape: graph.shapes[task], stack: stack) }]
    #expect(try texts(heap) == (ownerIsDead ? ["deadOwner 1 352 App.Owner"] : []))
  }

  /// A task whose child waits in a loop ends no sooner than it; one that waits for nobody soon ends.
  @Test(arguments: [true, false]) func parentsOfEndlessChildren(_ loops: Bool) throws {
    var heap = HeapBuilder()
    let parent = heap.object("Task", size: 320, kind: .task, isOfProgram: false)
    let child = heap.object("Task", size: 320, kind: .task, isOfProgram: false)
    let context = heap.object("box of weak App.Owner", size: 32, kind: .context)
    heap.link(parent, "operation", context, closure: .app("closure #1 in App.Owner.start()"))
    let owner = heap.object("App.Owner", size: 48, flags: HeapFile.Shape.isDead | HeapFile.Shape.countUnknown)
    heap.link(context, "captured App.Owner", owner, strength: HeapFile.Strength.none)
    heap.global("App.parent", holds: parent)
    heap.global("App.feed", holds: child)
    heap.tasks = [
      HeapFile.Task(address: heap.address(parent), dependency: .group),
      HeapFile.Task(
        address: heap.address(child), parent: heap.address(parent), dependency: .continuation,
        flags: loops ? HeapFile.Task.loops : 0),
    ]
    let stack = heap.stack([.app("closure #1 in App.Owner.start()")])
    let graph = try heap.file().graph()
    heap.waits = [withExtendedLifetime(graph) { .init(shape: graph.shapes[parent], stack: stack) }]
    #expect(try texts(heap) == (loops ? ["deadOwner 1 352 App.Owner"] : []))
  }

  /// The closure is that of an object which the task uses.
  @Test func closuresOfWhatATaskUses() throws {
    var heap = HeapBuilder()
    let task = heap.object("Task", size: 320, kind: .task, isOfProgram: false)
    let server = heap.object("App.Server", size: 48)
    heap.link(task, "async frame", server)
    let context = heap.object("closure context (captures weak App.Owner)", size: 32, kind: .context)
    heap.link(server, "onClose", context, closure: .app("closure #1 in App.Owner.start()"))
    let owner = heap.object("App.Owner", size: 48, flags: HeapFile.Shape.isDead | HeapFile.Shape.countUnknown)
    heap.link(context, "captured App.Owner", owner, strength: HeapFile.Strength.none)
    heap.global("App.feed", holds: task)
    let stack = heap.stack([.app("App.Server.run()")])
    let graph = try heap.file().graph()
    heap.waits = [withExtendedLifetime(graph) { .init(shape: graph.shapes[task], stack: stack) }]
    #expect(try texts(heap).isEmpty)
  }

  /// Tasks that have ended, and what keeps them: their handles, or the frames of a group.
  @Test(arguments: [true, false]) func tasksThatHaveFinished(_ areHandles: Bool) throws {
    var heap = HeapBuilder()
    let storage = heap.object("Swift._ContiguousArrayStorage<Swift.Task<(), Swift.Never>>", size: 1024)
    let frames = heap.object(NodeNames.asyncFrames, size: 1024, kind: .other, isOfProgram: false)
    var tasks: [HeapBuilder.Block] = []
    for _ in 0..<100 {
      let task = heap.object("Task", size: 208, kind: .task, isOfProgram: false, strong: 1)
      if areHandles { heap.link(storage, "[]", task) }
      heap.link(frames, "async frame", task, strength: HeapFile.Strength.perhaps)
      tasks.append(task)
    }
    heap.global("App.handles", holds: storage)
    heap.global("App.frames", holds: frames)
    let graph = try heap.file().graph()
    heap.waits = [
      withExtendedLifetime(graph) {
        .init(shape: graph.shapes[tasks[0]], stack: Snapshot.none, status: TaskState.Flag.complete)
      }
    ]
    let found = try findings(heap)
    #expect(found.map(\.kind) == [.finishedTasks] && found[0].objects == 100)
    #expect(found[0].advice.contains(areHandles ? "drop the handles" : "withDiscardingTaskGroup"))
    #expect(found[0].retainPath.first?.root?.name == (areHandles ? "App.handles" : "App.frames"))
  }

  @Test func anOrdinaryHeapHasNone() throws {
    #expect(try texts(HeapFileTests.sample()).isEmpty)
    let heap = try GrowthTests.Server(sessions: 100, log: 10_000, requests: 500, framesOfConnection: 50).heap()
    #expect(HeapFinding.findings(in: heap, HeapSymbols(heap, nil)).isEmpty)
  }
}
