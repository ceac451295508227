import Testing
import UndeadHeap
import UndeadHeapSamples
import UndeadReport

/// Which tasks can go on: by their continuations, by what they wait for, and not by their handles.
@Suite struct TaskProgressTests {
  private struct Sample {
    var heap = HeapBuilder()
    var tasks: [HeapBuilder.Block] = []

    /// A task that waits; its own count is one reference.
    mutating func task(
      _ dependency: TaskState.Dependency, strong: UInt32 = 1, flags: UInt16 = 0, parent: HeapBuilder.Block? = nil,
      group: UInt64 = 0
    ) -> HeapBuilder.Block {
      let block = heap.object("Task", size: 320, kind: .task, isOfProgram: false, strong: strong)
      heap.tasks.append(
        HeapFile.Task(
          address: heap.address(block), parent: parent.map { heap.address($0) } ?? 0, group: group,
          dependency: dependency,
          flags: flags))
      tasks.append(block)
      return block
    }

    mutating func wait(_ task: HeapBuilder.Block, for address: UInt64) {
      heap.tasks[tasks.firstIndex(of: task)!].waitsFor = address
    }

    /// As in each file of a program, places where tasks wait are known: for those who look for owners they are roots.
    func answers() throws -> [TaskProgress.Answer] {
      var heap = heap
      let stack = heap.stack([.app("App.wait()")])
      let graph = try heap.file().graph()
      let shapes = withExtendedLifetime(graph) { Set(tasks.map { graph.shapes[$0] }).sorted() }
      heap.waits = shapes.map { .init(shape: $0, stack: stack) }
      return TaskProgress(try LoadedHeap(heap.file())).answers
    }
  }

  @Test func byAContinuationThatSomethingHolds() throws {
    var sample = Sample()
    let task = sample.task(.continuation)
    let list = sample.heap.object("App.Waiters")
    sample.heap.link(list, "continuation", task, strength: HeapFile.Strength.raw)
    #expect(try sample.answers() == [.never])
    sample.heap.global("App.waiters", holds: list)
    #expect(try sample.answers() == [.yes])
  }

  /// The report names what can resume a task before its handles, whatever the way is worth, and these before itself: that is nobody.
  @Test(arguments: [(true, "App.context"), (false, "App.owner"), (false, nil)] as [(Bool, String?)])
  func whoCanResumeIt(_ isHeld: Bool, _ root: String?) throws {
    var sample = Sample()
    let hasHandle = root == "App.owner" || isHeld
    let task = sample.task(.continuation, strong: hasHandle ? 2 : 1)
    let owner = sample.heap.object("App.Owner")
    if hasHandle { sample.heap.link(owner, "task", task) }
    sample.heap.global("App.owner", holds: owner)
    let memory = sample.heap.foreign(size: 64)
    sample.heap.link(memory, "+24", task, strength: HeapFile.Strength.perhaps)
    if isHeld { sample.heap.global("App.context", holds: memory) }
    let stack = sample.heap.stack([.app("App.wait()")])
    let graph = try sample.heap.file().graph()
    sample.heap.waits = [withExtendedLifetime(graph) { .init(shape: graph.shapes[task], stack: stack) }]
    let report = TaskReport(try LoadedHeap(sample.heap.file()), symbolizer: nil)
    #expect(report.groups.map { $0.resumedBy?.first?.root?.name } == [root])
    #expect(report.summary.neverResumed == (isHeld ? 0 : 1))
  }

  /// Optimised code leaves the address of a closure in the frame that waits, and counts give it to that.
  @Test func whatABlockCapturedResumesItAlsoBesideAFrame() throws {
    var sample = Sample()
    let task = sample.task(.continuation)
    let frames = sample.heap.object(NodeNames.asyncFrames, size: 1024, kind: .other, isOfProgram: false)
    let context = sample.heap.object("closure context", kind: .context, strong: 1)
    let block = sample.heap.object(NodeNames.closureOfC, kind: .other, isOfProgram: false)
    sample.heap.link(task, "async frame", frames, strength: HeapFile.Strength.perhaps)
    sample.heap.link(frames, "async frame", context, strength: HeapFile.Strength.perhaps)
    sample.heap.link(block, "+40", context, strength: HeapFile.Strength.raw)
    sample.heap.link(context, "captured", task, strength: HeapFile.Strength.raw)
    sample.heap.global("timers", holds: block)
    let stack = sample.heap.stack([.app("App.wait()")])
    let graph = try sample.heap.file().graph()
    sample.heap.waits = [withExtendedLifetime(graph) { .init(shape: graph.shapes[task], stack: stack) }]
    let report = TaskReport(try LoadedHeap(sample.heap.file()), symbolizer: nil)
    #expect(report.groups.map { $0.resumedBy?.first?.root?.name } == ["timers"])
  }

  /// Where the runtime keeps what it makes of types, only words that are left over name objects.
  @Test func notByACacheOfTheRuntime() throws {
    for (name, answer) in [("$sSayxGSlsMcMK", TaskProgress.Answer.never), ("$s3App5cacheMn", .yes)] {
      var sample = Sample()
      let record = sample.heap.foreign(size: 64)
      sample.heap.link(record, "+0", sample.task(.continuation), strength: HeapFile.Strength.perhaps)
      sample.heap.global(name, holds: record)
      #expect(try sample.answers() == [answer], "\(name)")
    }
  }

  /// What the counts explain, a stale word of a stack does not keep.
  @Test func notByADoubtfulWord() throws {
    for (strong, answer) in [(UInt32(1), TaskProgress.Answer.never), (2, .yes)] {
      var sample = Sample()
      let task = sample.task(.continuation)
      let context = sample.heap.object("App.Waiters", strong: strong)
      sample.heap.link(task, "operation", context, strength: HeapFile.Strength.raw)
      sample.heap.link(context, "continuation", task, strength: HeapFile.Strength.raw)
      sample.heap.hold(sample.heap.root(HeapFile.Root.stack, "main thread", thread: 1, isWeak: true), context)
      #expect(try sample.answers() == [answer])
    }
  }

  /// A global variable may have a handle or a continuation: the task's count shows.
  @Test func notByAHandle() throws {
    for (strong, flags, answer) in [
      (2, 0, TaskProgress.Answer.never), (2, HeapFile.Task.cancelHandler, .cancel), (1, 0, .yes),
    ] {
      var sample = Sample()
      sample.heap.global("App.task", holds: sample.task(.continuation, strong: UInt32(strong), flags: flags))
      #expect(try sample.answers() == [answer], "\(strong) \(flags)")
    }
    var sample = Sample()
    let owner = sample.heap.object("App.Owner")
    sample.heap.link(owner, "task", sample.task(.continuation, strong: 2))
    sample.heap.global("App.owner", holds: owner)
    #expect(try sample.answers() == [.never])
  }

  @Test func byWhatTheyWaitFor() throws {
    for isHeld in [true, false] {
      var sample = Sample()
      let first = sample.task(.continuation)
      let second = sample.task(.task)
      sample.wait(second, for: sample.heap.address(first))
      let list = sample.heap.object("App.Waiters")
      sample.heap.link(list, "continuation", first, strength: HeapFile.Strength.raw)
      if isHeld { sample.heap.global("App.waiters", holds: list) }
      #expect(try sample.answers() == (isHeld ? [.yes, .yes] : [.never, .never]))
    }
  }

  @Test func tasksThatWaitForEachOther() throws {
    var sample = Sample()
    let (first, second) = (sample.task(.task, strong: 2), sample.task(.task, strong: 2))
    sample.wait(first, for: sample.heap.address(second))
    sample.wait(second, for: sample.heap.address(first))
    for task in [first, second] { sample.heap.global("App.task\(task)", holds: task) }
    #expect(try sample.answers() == [.never, .never])
  }

  /// Parent and child name each other, which resumes neither.
  @Test func childrenOfAGroup() throws {
    for isHeld in [true, false] {
      var sample = Sample()
      let parent = sample.task(.group, strong: 2)
      sample.wait(parent, for: 0x77)
      let child = sample.task(.continuation, parent: parent, group: 0x77)
      sample.heap.link(parent, "async frame", child, strength: HeapFile.Strength.perhaps)
      sample.heap.link(child, "async frame", parent, strength: HeapFile.Strength.raw)
      sample.heap.global("App.parent", holds: parent)
      if isHeld {
        let list = sample.heap.object("App.Waiters")
        sample.heap.link(list, "continuation", child, strength: HeapFile.Strength.raw)
        sample.heap.global("App.waiters", holds: list)
      }
      #expect(try sample.answers() == (isHeld ? [.yes, .yes] : [.never, .never]))
    }
  }

  /// Such a task is no block, and its continuation leads into its parent.
  @Test func tasksOfAsyncLet() throws {
    var sample = Sample()
    let parent = sample.task(.task)
    let address = sample.heap.address(parent) + 160
    sample.wait(parent, for: address)
    sample.heap.tasks.append(
      HeapFile.Task(
        address: address, parent: sample.heap.address(parent), dependency: .continuation, flags: HeapFile.Task.asyncLet)
    )
    #expect(try sample.answers() == [.never, .never])
    let list = sample.heap.object("App.Waiters")
    sample.heap.link(list, "continuation", parent, strength: HeapFile.Strength.raw)
    sample.heap.global("App.waiters", holds: list)
    #expect(try sample.answers() == [.yes, .yes])
  }

  /// Of two in one frame a word resumes the one that it names. A file that does not say which resumes both.
  @Test func oneOfTwoTasksOfAsyncLet() throws {
    for isKnown in [true, false] {
      var sample = Sample()
      let parent = sample.task(.task)
      let addresses = [160, 240].map { sample.heap.address(parent) + $0 }
      sample.wait(parent, for: addresses[0])
      for address in addresses {
        sample.heap.tasks.append(
          HeapFile.Task(
            address: address, parent: sample.heap.address(parent), dependency: .continuation,
            flags: HeapFile.Task.asyncLet))
      }
      let list = sample.heap.object("App.Waiters")
      sample.heap.link(list, "continuation", parent, strength: HeapFile.Strength.raw)
      sample.heap.global("App.waiters", holds: list)
      if isKnown { sample.heap.innerWords = [(list, addresses[1])] }
      #expect(try sample.answers() == (isKnown ? [.never, .never, .yes] : [.yes, .yes, .yes]))
    }
  }

  /// A word of frames may be a handle, also where these lie in a block of their own; of other memory it is a continuation.
  @Test(arguments: [false, true]) func byAWordInFurtherMemoryOfATask(_ isKnown: Bool) throws {
    var sample = Sample()
    let (runs, waits) = (sample.task(.unknown), sample.task(.continuation, strong: 2))
    sample.heap.tasks[0].status = TaskState.Flag.running
    let slab = sample.heap.raw(size: 1024)
    sample.heap.link(runs, "async frame", slab, strength: HeapFile.Strength.raw)
    sample.heap.link(slab, "async frame", waits, strength: HeapFile.Strength.perhaps)
    if isKnown { sample.heap.taskMemory = [.init(task: sample.heap.address(runs), block: 2, taskBlock: 0)] }
    #expect(try sample.answers() == [.yes, isKnown ? .never : .yes])
  }

  /// The runtime makes a task for each sleep, whose closure captures where the continuation is. Stale words name others.
  @Test func sleepsThatWereCancelled() throws {
    var sample = Sample()
    let sleepers = [sample.task(.continuation), sample.task(.continuation)]
    let runtimes = [sample.task(.unknown), sample.task(.unknown)]
    for (number, runtime) in runtimes.enumerated() {
      let timer = sample.heap.raw(size: 80)
      let operation = sample.heap.object(
        "closure context (captures Swift.UnsafeSleepStateToken)", kind: .context)
      let token = sample.heap.raw()
      sample.heap.link(timer, ".event handler", runtime, strength: HeapFile.Strength.raw)
      sample.heap.link(runtime, ".operation", operation, strength: HeapFile.Strength.raw)
      sample.heap.link(runtime, "async frame", sleepers[0], strength: HeapFile.Strength.perhaps)
      sample.heap.link(operation, "[capture 0]", token, strength: HeapFile.Strength.raw)
      if number == 0 { sample.heap.link(token, "", sleepers[1], strength: HeapFile.Strength.raw, offset: 0) }
      sample.heap.tasks.append(
        HeapFile.Task(
          address: sample.heap.address(timer), waitsFor: UInt64(number + 1) * 1_000_000_000, flags: HeapFile.Task.timer)
      )
    }
    let sleeps = TaskProgress(try LoadedHeap(sample.heap.file())).sleeps { _ in true }
    #expect((0..<4).map { sleeps.wakes($0) } == [nil, 1, 1, 2])
    #expect(sleeps.cancelled == [3])
  }
}
