import Dispatch
import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// What a sleeping loop must be notified of, and what must not hide it. Each of these hangs, or runs into its limit, when a wake-up
/// is lost.
@Suite(.timeLimit(.minutes(20))) struct SleepingLoopTests {
  private let elsewhere = TrackedRunLoop.Mode("elsewhere")

  /// A loop that sleeps, for ever as far as it knows.
  private func sleepingThread(_ clock: RunLoopClock = RunLoopClock.monotonic) -> RunLoopThread {
    let thread = RunLoopThread(name: "asleep", clock: clock)
    untilAsleep(thread.loop)
    return thread
  }

  private func untilAsleep(_ loop: TrackedRunLoop) {
    #expect(eventually { loop.core.withLock { loop.core.state.pointee.sleep.isAsleep } })
  }

  private func expectAnswers(_ loop: TrackedRunLoop) {
    untilAsleep(loop)
    let answered = Counter()
    loop.perform { answered.up() }
    #expect(eventually { answered.count == 1 })
  }

  @Test func aTimerAddedToASecondModeHidesNothing() throws {
    let thread = sleepingThread()
    defer { thread.stop() }
    let loop = thread.loop
    let timer = try loop.schedule(after: .seconds(1000)) { _ in }
    untilAsleep(loop)
    try loop.add(timer, forMode: elsewhere)
    expectAnswers(loop)
    loop.remove(timer, forMode: elsewhere)
    expectAnswers(loop)
    loop.remove(timer, forMode: .default)
    expectAnswers(loop)
  }

  @Test func changesForModesThatDoNotRunHideNothing() throws {
    let thread = sleepingThread()
    defer { thread.stop() }
    let loop = thread.loop
    let timer = try TrackedTimer(timeInterval: 0.001, repeats: true) { _ in }
    try loop.add(timer, forMode: elsewhere)
    expectAnswers(loop)
    loop.remove(timer, forMode: elsewhere)
    expectAnswers(loop)
    try loop.add(timer, forMode: elsewhere)
    timer.fireDate = .distantPast
    expectAnswers(loop)
    timer.tolerance = .seconds(0.0001)
    expectAnswers(loop)
    let source = TrackedRunLoopSource { _ in }
    try loop.add(source, forMode: elsewhere)
    source.signal()
    expectAnswers(loop)
    loop.remove(source, forMode: elsewhere)
    loop.addCommonMode(elsewhere)
    expectAnswers(loop)
    timer.invalidate()
    expectAnswers(loop)
  }

  @Test func aBlockForAModeThatDoesNotRunHidesNothing() {
    let thread = sleepingThread()
    defer { thread.stop() }
    thread.loop.perform(inModes: [elsewhere]) {}
    expectAnswers(thread.loop)
  }

  @Test func whoAsksForTheDescriptorOfASleepingLoopHidesNothing() {
    let thread = sleepingThread()
    defer { thread.stop() }
    // Work for the mode that a driver would serve, while the loop runs in another.
    let loop = thread.loop
    let nested = Completion()
    loop.perform { [elsewhere] in
      _ = try? loop.schedule(after: .seconds(1000), mode: elsewhere) { _ in }
      loop.run(mode: elsewhere, for: nil)
      nested.finish()
    }
    #expect(eventually { loop.currentMode == elsewhere })
    untilAsleep(loop)
    loop.perform {}
    untilAsleep(loop)
    #expect(loop.pollDescriptor >= 0)
    #expect(loop.runPending() == .finished)
    loop.stop()
    #expect(nested.wait())
  }

  @Test(arguments: [Duration.microseconds(1), .microseconds(100), .milliseconds(1), .seconds(1)])
  func aManualClockDelaysNeitherStopNorPerform(due: Duration) throws {
    let clock = VirtualClock(advancesWhenIdle: false)
    let thread = sleepingThread(clock)
    defer { thread.stop() }
    let loop = thread.loop
    let fired = Counter()
    clock.advance(by: .seconds(5))
    let timer = try loop.schedule(after: due) { _ in fired.up() }
    expectAnswers(loop)
    let nested = Completion()
    let isNested = Completion()
    loop.perform {
      isNested.finish()
      loop.run(for: nil)
      nested.finish()
    }
    #expect(isNested.wait())
    #expect(eventually { loop.core.withLock { loop.core.state.pointee.activations.depth } == 2 })
    loop.stop()
    #expect(nested.wait())
    #expect(fired.count == 0)
    clock.advance(by: due)
    #expect(eventually { fired.count == 1 })
    #expect(!timer.isValid)
  }

  @Test func aSecondWakeUpIsNotLost() {
    let thread = sleepingThread()
    defer { thread.stop() }
    for _ in 0..<200 { expectAnswers(thread.loop) }
  }

  @Test func performsOfManyThreadsAllRun() {
    let thread = RunLoopThread(name: "many")
    defer { thread.stop() }
    let loop = thread.loop
    let (asked, ran) = (Counter(), Counter())
    concurrently(4) { index in
      for round in 0..<500 {
        if index == 0, round % 5 == 0 {
          try? loop.perform(waitUntilDone: true) { ran.up() }
        } else {
          loop.perform(inModes: round % 2 == 0 ? [.default] : [.default, .tracking]) { ran.up() }
        }
        asked.up()
        if index == 1 { loop.wakeUp() }
      }
    }
    #expect(eventually { ran.count == 2000 })
    #expect(asked.count == 2000)
  }

  @Test func runReturnsAfterAnActionOfAnotherThread() throws {
    let loop = TrackedRunLoop()
    try loop.schedule(after: .seconds(1000)) { _ in }
    let witness = Witness()
    let helper = RunLoopThread(name: "helper")
    defer { helper.stop() }
    helper.loop.perform { try? loop.perform(on: witness, waitUntilDone: false) { $0.tick() } }
    #expect(loop.run(mode: .default, before: .distantFuture) == .handledSource)
    #expect(witness.ticks.load(ordering: .relaxed) == 1)
    // A block is none.
    helper.loop.perform { loop.perform { loop.stop() } }
    #expect(loop.run(mode: .default, before: .distantFuture) == .stopped)
  }

  @Test func limitDateIsNilWhenTheLastTimerHasFired() throws {
    let test = TestLoop()
    try test.after(.seconds(0), "only")
    #expect(test.loop.limitDate(forMode: .default) == nil)
    #expect(test.log == ["only@0.0"])
  }
}
