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

private final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}
