import FoundationEssentials
import Synchronization
import Testing

@testable import UndeadRunLoop

/// Tasks that sleep by a loop, or by a virtual clock.
@Suite(.timeLimit(.minutes(20))) struct TaskClockTests {
  @Test func itIsAnyClock() async throws {
    let test = TestLoop()
    let clock: any Clock<Duration> = test.taskClock
    try await test.run {
      try await clock.sleep(for: .milliseconds(1500))
      test.note("clock.sleep")
      let own = test.taskClock
      try await Task.sleep(until: own.now + .seconds(1), clock: own)
      test.note("Task.sleep")
      try await test.loop.sleep(for: .seconds(1))
      test.note("loop.sleep")
      try await test.loop.sleep(until: test.date.addingTimeInterval(0.5))
      test.note("until a date")
    }
    #expect(test.log == ["clock.sleep@1.5", "Task.sleep@2.5", "loop.sleep@3.5", "until a date@4.0"])
  }

  @Test func instantsAreExact() {
    let clock = VirtualClock().taskClock
    let odd = Duration(secondsComponent: 3, attosecondsComponent: 1)
    let later = clock.now.advanced(by: odd)
    #expect(clock.now.duration(to: later) == odd)
    #expect(later > clock.now)
    #expect(clock.minimumResolution == .nanoseconds(1))
    #expect(LoopClock.Instant(nanoseconds: -1_500_000_000).offset == .milliseconds(-1500))
  }

  @Test(arguments: [true, false]) func neverEarlyNotByAPartOfANanosecond(virtual: Bool) async throws {
    let test = TestLoop()
    let clock = virtual ? test.clock.taskClock : test.taskClock
    try await test.run {
      try await clock.sleep(for: Duration(secondsComponent: 0, attosecondsComponent: 1))
      try await clock.sleep(for: .zero)
      try await clock.sleep(for: .seconds(-5))
    }
    #expect(test.clock.now == 1)
  }

  @Test func sleepersOfAVirtualClockWakeInTheirOrderWhenItIsMoved() throws {
    let clock = VirtualClock(advancesWhenIdle: false)
    let loop = TrackedRunLoop(clock: clock)
    let log = Log()
    for number in [3, 1, 2] {
      Task(executorPreference: loop) {
        try await clock.taskClock.sleep(for: .seconds(number))
        log.add(number)
      }
    }
    func settle() { while loop.nextInstant(mode: .default) == .min { loop.runPending() } }
    settle()
    #expect(clock.nextSleeper == 1_000_000_000)
    clock.advance(by: .seconds(1))
    settle()
    #expect(log.entries == [1])
    clock.advance(by: .seconds(2))
    settle()
    #expect(log.entries == [1, 2, 3])
    #expect(clock.nextSleeper == nil)
  }

  @Test(arguments: [true, false]) func cancellingEndsTheSleepAtOnce(virtual: Bool) async throws {
    let test = TestLoop()
    let clock = virtual ? test.clock.taskClock : test.taskClock
    try await test.run {
      let sleeper = Task(executorPreference: test.loop) { try await clock.sleep(for: .seconds(1000)) }
      try await test.taskClock.sleep(for: .seconds(1))
      sleeper.cancel()
      await #expect(throws: CancellationError.self) { try await sleeper.value }
      let late = Task { try await clock.sleep(for: .seconds(1000)) }
      late.cancel()
      await #expect(throws: CancellationError.self) { try await late.value }
    }
    #expect(test.elapsed == .seconds(1))
    #expect(test.clock.nextSleeper == nil)
    #expect(test.loop.inspection().modes.map(\.timers).reduce(0, +) == 0)
  }

  @Test func aLoopThatEndsWakesItsSleepersWithAnError() async throws {
    let thread = RunLoopThread(name: "ending")
    let loop = thread.loop
    // On the loop's thread: those that Swift has for tasks may all be busy with other tests.
    let sleeper = Task(executorPreference: loop) { try await loop.sleep(for: .seconds(1000)) }
    #expect(eventually { loop.inspection().modes.contains { $0.timers > 0 } })
    thread.stop()
    await #expect(throws: RunLoopError.loopFinished(loop: "ending")) { try await sleeper.value }
    await #expect(throws: RunLoopError.loopFinished(loop: "ending")) { try await loop.sleep(for: .seconds(1)) }
  }

  @Test func aLoopIsFreeToDieWhenItsSleepersAreDone() async throws {
    weak var watched: TrackedRunLoop?
    do {
      let test = TestLoop()
      watched = test.loop
      try await test.run { try await test.taskClock.sleep(for: .seconds(1)) }
    }
    #expect(eventually { watched == nil })
  }

  @Test func sleepsOnARealLoopAreNeverEarly() async throws {
    let thread = RunLoopThread(name: "real")
    defer { thread.stop() }
    let clock = thread.loop.taskClock
    let begin = ContinuousClock.now
    try await clock.sleep(for: .milliseconds(5), tolerance: .milliseconds(1))
    #expect(ContinuousClock.now - begin >= .milliseconds(5))
  }

  @Test func sleepingAndCancellingFromManyThreads() async throws {
    let thread = RunLoopThread(name: "many")
    defer { thread.stop() }
    let loop = thread.loop
    let ended = Counter()
    await withTaskGroup { group in
      for number in 0..<400 {
        group.addTask {
          let sleeper = Task { try await loop.sleep(for: .microseconds(number % 7 * 50)) }
          if number % 3 == 0 { sleeper.cancel() }
          _ = await sleeper.result
          ended.up()
        }
      }
    }
    #expect(ended.count == 400)
    #expect(loop.inspection().modes.map(\.timers).reduce(0, +) == 0)
  }
}
