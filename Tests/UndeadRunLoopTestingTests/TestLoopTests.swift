import FoundationEssentials
import Synchronization
import Testing
import UndeadRunLoop
import UndeadRunLoopTesting

/// What the kit promises to strangers: only public interfaces here.
@Suite(.timeLimit(.minutes(20))) struct TestLoopTests {
  @Test func eachFireHasItsOwnTime() throws {
    let test = TestLoop()
    try test.every(.seconds(1), "tick")
    try test.after(.milliseconds(2500), "once")
    test.advance(by: .milliseconds(3500))
    test.expectLog(["tick@1.0", "tick@2.0", "once@2.5", "tick@3.0"])
    #expect(test.elapsed == .milliseconds(3500))
    test.advance(by: .milliseconds(500))
    test.expectLog(["tick@4.0"])
  }

  @Test func timePassesAlsoWithNothingToDo() {
    let test = TestLoop(start: Date(timeIntervalSince1970: 1000))
    test.advance(by: .seconds(60))
    #expect(test.date == Date(timeIntervalSince1970: 1060))
    test.advance(to: Date(timeIntervalSince1970: 2000))
    #expect(test.elapsed == .seconds(1000))
    test.advance(to: .distantPast)
    #expect(test.elapsed == .seconds(1000))
  }

  @Test func whatAFireAddsForTheSameInstantIsDone() throws {
    let test = TestLoop()
    try test.loop.schedule(after: .seconds(1)) { [unowned test] _ in
      test.note("timer")
      test.loop.perform {
        test.note("block")
        test.loop.perform { test.note("block of the block") }
      }
    }
    test.advance(by: .seconds(1))
    test.expectLog(["timer@1.0", "block@1.0", "block of the block@1.0"])
  }

  @Test func aStopInACallbackDoesNotStopTime() throws {
    let test = TestLoop()
    try test.loop.schedule(every: .seconds(1)) { [unowned test] _ in
      test.note("tick")
      test.loop.stop()
    }
    test.advance(by: .seconds(3))
    test.expectLog(["tick@1.0", "tick@2.0", "tick@3.0"])
  }

  @Test func idleIsWhenTimeBringsNothing() throws {
    let test = TestLoop()
    try test.after(.seconds(86_000), "late")
    try test.after(.seconds(1), "early")
    try test.loop.add(TrackedRunLoopSource { _ in })
    #expect(test.runUntilIdle())
    test.expectLog(["early@1.0", "late@86000.0"])
    try test.every(.seconds(1000), "tick")
    #expect(!test.runUntilIdle(limit: .seconds(2500)))
    test.expectLog(["tick@87000.0", "tick@88000.0"])
  }

  @Test func otherModes() throws {
    let test = TestLoop()
    try test.every(.seconds(1), "default")
    try test.every(.seconds(1), "tracking", mode: .tracking)
    test.advance(by: .seconds(1), mode: .tracking)
    test.expectLog(["tracking@1.0"])
    test.advance(by: .zero)
    test.expectLog(["default@1.0"])
  }

  @Test func whatNeverComesToRestIsToldInsteadOfHanging() {
    let test = TestLoop()
    @Sendable func again() { test.loop.perform { again() } }
    again()
    withKnownIssue {
      test.advance(by: .seconds(1))
    } matching: { issue in
      issue.description.contains("does not come to rest")
    }
  }

  @Test func anUnexpectedLogIsAnIssue() {
    let test = TestLoop()
    test.note("something")
    withKnownIssue { test.expectLog([]) }
    test.expectLog([])
  }

  // MARK: Tasks

  @Test func tasksSleepInVirtualTime() throws {
    let test = TestLoop()
    let clock = test.taskClock
    let answer = try test.run {
      try await clock.sleep(for: .seconds(3600))
      test.note("slept")
      try await Task.sleep(until: clock.now.advanced(by: .seconds(60)), clock: clock)
      return test.elapsed
    }
    #expect(answer == .seconds(3660))
    test.expectLog(["slept@3600.0"])
  }

  @Test func manyTasksWakeInTheOrderOfTheirDates() async throws {
    let test = TestLoop()
    let clock: any Clock<Duration> = test.taskClock
    try await test.run {
      await withTaskGroup { group in
        for seconds in [5, 3, 4, 1, 2] {
          group.addTask {
            for round in 1...2 {
              try? await clock.sleep(for: .seconds(seconds * 10))
              test.note("\(seconds).\(round)")
            }
          }
        }
      }
    }
    test.expectLog([
      "1.1@10.0", "2.1@20.0", "1.2@20.0", "3.1@30.0", "4.1@40.0", "2.2@40.0", "5.1@50.0", "3.2@60.0", "4.2@80.0",
      "5.2@100.0",
    ])
  }

  @Test func asyncTestsUseAThreadOfItsOwn() async throws {
    let test = TestLoop()
    let clock = test.taskClock
    try await test.run { try await clock.sleep(for: .seconds(10)) }
    #expect(test.elapsed == .seconds(10))
  }

  @Test func errorsOfTheTaskComeThrough() async throws {
    let test = TestLoop()
    await #expect(throws: CancellationError.self) { try await test.run { throw CancellationError() } }
  }

  @Test func aTaskThatWaitsForWhatNeverComesIsTold() async throws {
    let test = TestLoop()
    let limit = Duration.milliseconds(20)
    await #expect(throws: TestLoopError.notFinished(within: limit)) {
      try await test.run(within: limit) { try await Task.sleep(for: .seconds(1000)) }
    }
  }

  @Test func aTimeoutOfAStrangersCodeInVirtualTime() async throws {
    let test = TestLoop()
    let clock = test.taskClock
    let result: Int? = try await test.run {
      try await withTimeout(.seconds(5), clock: clock) {
        try await clock.sleep(for: .seconds(1000))
        return 1
      }
    }
    #expect(result == nil)
    #expect(test.elapsed == .seconds(5))
  }

  // MARK: Real time

  @Test func eventuallyWaitsInRealTime() async throws {
    let thread = RunLoopThread(name: "real")
    defer { thread.stop() }
    let done = Flag()
    thread.loop.perform { done.set() }
    #expect(eventually { done.isSet })
    #expect(try await eventually { try await isSet(done) })
    withKnownIssue { eventually(within: .milliseconds(1), "never") { false } }
    await withKnownIssue { try await eventually(within: .milliseconds(1)) { await isNever() } }
  }

  @Test func aLoopRunsUntilAConditionHolds() throws {
    let loop = TrackedRunLoop()
    let done = Flag()
    try loop.schedule(after: .seconds(0.002)) { _ in done.set() }
    #expect(loop.run(until: { done.isSet }))
    withKnownIssue { loop.run(within: .milliseconds(1), until: { false }) }
  }
}

private func isSet(_ flag: Flag) async throws -> Bool { flag.isSet }
private func isNever() async -> Bool { false }

/// What somebody might write, knowing only that there is a clock.
private func withTimeout<C: Clock, Value: Sendable>(
  _ limit: C.Duration, clock: C, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await clock.sleep(until: clock.now.advanced(by: limit), tolerance: nil)
      return nil
    }
    defer { group.cancelAll() }
    return try await group.next() ?? nil
  }
}

private final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}
