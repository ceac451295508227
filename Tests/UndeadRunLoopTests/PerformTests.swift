import Testing

@testable import UndeadRunLoop

@Suite(.timeLimit(.minutes(20))) struct PerformTests {
  @Test func blocksRunInOrderAndOnlyInTheirModes() throws {
    let test = TestLoop()
    for index in 0..<3 { test.loop.perform { test.note("\(index)") } }
    test.loop.perform(inModes: [.tracking]) { test.note("tracking") }
    test.loop.perform(inModes: [.common]) { test.note("common") }
    test.run(seconds: 0)
    #expect(test.log == ["0@0.0", "1@0.0", "2@0.0", "common@0.0"])
    test.run(.tracking, seconds: 0)
    #expect(test.log.suffix(1) == ["tracking@0.0"])
  }

  @Test func blocksAddedByABlockWaitForTheNextTurn() throws {
    let test = TestLoop()
    test.loop.perform {
      test.note("first")
      test.loop.perform { test.note("second") }
      test.loop.run(for: .zero)
      test.note("first ends")
    }
    test.run(seconds: 1)
    #expect(test.log == ["first@0.0", "second@0.0", "first ends@0.0"])
  }

  @Test func waitingOnAnotherThread() throws {
    let thread = RunLoopThread(name: "wait")
    defer { thread.stop() }
    let ran = Counter()
    try thread.loop.perform(waitUntilDone: true) {
      #expect(thread.loop.isCurrentThread)
      ran.up()
    }
    #expect(ran.count == 1)
    let witness = Witness()
    try thread.loop.perform(on: witness, waitUntilDone: true) { $0.tick() }
    #expect(witness.ticks.load(ordering: .relaxed) == 1)
  }

  @Test func waitingOnTheSameThreadIsADirectCall() throws {
    let test = TestLoop()
    try test.loop.schedule(after: .seconds(0.1)) { _ in
      try test.loop.perform(waitUntilDone: true) { test.note("direct") }
      test.note("after")
    }
    test.run(seconds: 1)
    #expect(test.log == ["direct@0.1", "after@0.1"])
  }

  @Test func delayedPerformsHoldTheirTargetAndCanBeCancelled() throws {
    let test = TestLoop()
    let deaths = Counter()
    var target: Witness? = Witness { deaths.up() }
    let other = Witness()
    try test.loop.perform(after: .seconds(0.1), on: #require(target), name: "tick") { $0.tick() }
    try test.loop.perform(after: .seconds(0.3), on: #require(target), name: "tick") { _ in test.note("tick") }
    try test.loop.perform(after: .seconds(0.3), on: #require(target), name: "tock") { _ in test.note("tock") }
    try test.loop.perform(after: .seconds(0.3), on: other, name: "tick") { _ in test.note("other") }
    weak let watched = target
    target = nil
    #expect(deaths.count == 0)
    test.run(seconds: 0.2)
    #expect(watched?.ticks.load(ordering: .relaxed) == 1)
    #expect(try test.loop.cancelPerforms(target: #require(watched), name: "tick") == 1)
    test.run(seconds: 0.2)
    #expect(test.log == ["tock@0.3", "other@0.3"])
    #expect(deaths.count == 1)
    try test.loop.perform(after: .seconds(1), on: other) { _ in test.note("never") }
    #expect(test.loop.cancelPerforms(target: other) == 1)
    #expect(test.run(seconds: 5) == .finished)
  }

  @Test func performersRunInTheirOrder() throws {
    let test = TestLoop()
    let target = Witness()
    func perform(_ order: Int, _ what: String, modes: [TrackedRunLoop.Mode] = [.default]) throws {
      try test.loop.perform(on: target, order: order, name: what, modes: modes) { _ in test.note(what) }
    }
    try perform(10, "last")
    test.loop.perform { test.note("block") }
    try perform(-1, "first")
    try perform(0, "after the block")
    try perform(-1, "second")
    try perform(-2, "tracking", modes: [.tracking])
    try perform(-3, "common", modes: [.common])
    test.run(seconds: 0)
    #expect(
      test.log == [
        "common@0.0", "first@0.0", "second@0.0", "block@0.0", "after the block@0.0", "last@0.0",
      ])
    test.run(.tracking, seconds: 0)
    #expect(test.log.suffix(1) == ["tracking@0.0"])
    #expect(test.run(seconds: 1) == .finished)
  }

  @Test func performersAreTakenBackAndReleased() throws {
    let test = TestLoop()
    let deaths = Counter()
    do {
      let target = Witness { deaths.up() }
      for name in ["a", "b", "b"] {
        try test.loop.perform(on: target, order: 1, name: name) { _ in test.note(name) }
      }
      #expect(test.loop.cancelPerforms(target: target, name: "b") == 2)
      #expect(test.loop.cancelPerforms(target: Witness()) == 0)
    }
    #expect(deaths.count == 0)
    test.run(seconds: 0)
    #expect(test.log == ["a@0.0"])
    #expect(deaths.count == 1)
    try test.loop.perform(on: Witness { deaths.up() }, order: 0) { target in
      try? test.loop.perform(on: target, order: -1) { _ in test.note("next pass") }
    }
    test.run(seconds: 1)
    #expect(test.log.suffix(1) == ["next pass@0.0"])
    #expect(deaths.count == 2)
    let thread = RunLoopThread(name: "ended")
    thread.stop()
    #expect(eventually { thread.loop.isFinished })
    #expect(throws: RunLoopError.loopFinished(loop: "ended")) {
      try thread.loop.perform(on: Witness(), order: 0) { _ in }
    }
  }

  @Test func confinedBlocksMayHoldWhatIsNotSendable() throws {
    final class Local { var count = 0 }
    let test = TestLoop()
    let counted = Counter()
    test.loop.confine { here in
      let local = Local()
      _ = try? here.schedule(after: .seconds(0.1), repeats: true) { timer in
        local.count += 1
        counted.up()
        if local.count == 3 { timer.invalidate() }
      }
    }
    #expect(test.run(seconds: 5) == .finished)
    #expect(counted.count == 3)
  }

  @Test func confinedTimersReleaseOnTheLoopsThread() throws {
    final class Local {
      let onDeath: @Sendable () -> Void
      init(_ onDeath: @escaping @Sendable () -> Void) { self.onDeath = onDeath }
      func tick(_ timer: TrackedTimer) {}
      deinit { onDeath() }
    }
    let thread = RunLoopThread(name: "confined")
    defer { thread.stop() }
    let died = Completion()
    let timer = Locked<TrackedTimer?>(nil)
    let scheduled = Completion()
    let loop = thread.loop
    loop.confine { here in
      let local = Local {
        #expect(loop.isCurrentThread)
        died.finish()
      }
      let made = try? here.schedule(after: .seconds(1000), repeats: true) { timer in local.tick(timer) }
      timer.withLock { $0 = made }
      scheduled.finish()
    }
    #expect(scheduled.wait())
    let made = try #require(timer.withLock { $0 })
    made.invalidate()
    #expect(!made.isValid)
    #expect(died.wait())
  }
}
