import FoundationEssentials
import Testing

@testable import UndeadRunLoop

@Suite(.timeLimit(.minutes(20))) struct TimerTests {
  @Test func oneShotFiresOnceAndReleasesTargetAndUserInfo() throws {
    let test = TestLoop()
    let deaths = Counter()
    var target: Witness? = Witness { deaths.up() }
    let timer = try TrackedTimer(timeInterval: 0.5, target: #require(target), userInfo: Witness { deaths.up() }) {
      target, _ in
      target.tick()
      #expect(deaths.count == 0)
    }
    weak let watched = target
    target = nil
    #expect(timer.interval == .zero)
    try test.loop.add(timer, forMode: .default)
    #expect(watched != nil)
    #expect(test.run(seconds: 2) == .finished)
    #expect(test.time == 0.5)
    #expect(timer.firings == 1)
    #expect(!timer.isValid)
    #expect(watched == nil)
    #expect(deaths.count == 2)
    #expect(timer.userInfo == nil)
  }

  @Test func repeatingKeepsItsTargetUntilInvalidated() throws {
    let test = TestLoop()
    let deaths = Counter()
    var target: Witness? = Witness { deaths.up() }
    let timer = try TrackedTimer(timeInterval: 0.1, target: #require(target), repeats: true) { target, _ in
      target.tick()
    }
    target = nil
    try test.loop.add(timer, forMode: .default)
    #expect(test.run(seconds: 1.05) == .timedOut)
    #expect(timer.firings == 10)
    #expect(deaths.count == 0)
    timer.invalidate()
    #expect(deaths.count == 1)
    #expect(test.run(seconds: 1) == .finished)
  }

  @Test func zeroIntervalWithRepeatsIsATenthOfAMillisecond() throws {
    let timer = try TrackedTimer(timeInterval: 0, repeats: true) { _ in }
    #expect(timer.interval == .microseconds(100))
  }

  @Test(arguments: [-1, .nan, .infinity, -.infinity, 1e300, -.leastNonzeroMagnitude])
  func badIntervalsAreRefused(interval: Double) {
    #expect(throws: RunLoopError.self) { try TrackedTimer(timeInterval: interval) { _ in } }
    #expect(throws: RunLoopError.self) { try TrackedTimer(timeInterval: interval, repeats: true) { _ in } }
    #expect(throws: RunLoopError.self) {
      try TrackedTimer.scheduledTimer(withTimeInterval: interval, repeats: false) { _ in }
    }
  }

  @Test func badDatesAreRefused() throws {
    #expect(throws: RunLoopError.invalidDate) {
      try TrackedTimer(fire: Date(timeIntervalSince1970: .nan), interval: .seconds(1), repeats: true) { _ in }
    }
    let timer = try TrackedTimer(timeInterval: 1) { _ in }
    let before = timer.fireDate
    timer.fireDate = Date(timeIntervalSinceReferenceDate: .nan)
    #expect(abs(timer.fireDate.timeIntervalSince(before)) < 0.01)
  }

  @Test func theDistantFutureNeverComes() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(1), "tick")
    timer.fireDate = .distantFuture
    #expect(test.run(seconds: 10) == .timedOut)
    timer.fireDate = .distantPast
    test.run(seconds: 0.5)
    #expect(test.log == ["tick@10.0"])
  }

  @Test func lateBecauseOfAnotherFiresOnceThenBackOnTheGrid() throws {
    let test = TestLoop()
    try test.every(.seconds(0.1), "tick")
    try test.loop.schedule(after: .seconds(0.15)) { _ in test.clock.advance(by: .milliseconds(300)) }
    test.run(seconds: 0.61)
    #expect(test.log == ["tick@0.1", "tick@0.45", "tick@0.5", "tick@0.6"])
  }

  @Test func ownOverrunGoesToTheNextGridPoint() throws {
    let test = TestLoop()
    let first = Counter()
    let timer = try test.loop.schedule(every: .seconds(0.1)) { _ in
      test.note("tick")
      if first.up() == 1 { test.clock.advance(by: .milliseconds(350)) }
    }
    test.run(seconds: 0.61)
    #expect(test.log == ["tick@0.1", "tick@0.5", "tick@0.6"])
    #expect(timer.missedFirings == 3)
  }

  @Test func aStallOfAYearCostsNoMoreThanOneOfASecond() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.0001), "tick")
    test.clock.advance(by: .seconds(365 * 24 * 3600))
    test.run(seconds: 0.00005)
    #expect(timer.firings == 1)
    #expect(timer.missedFirings > 1_000_000)
  }

  @Test func siblingInvalidatedInACallbackDoesNotFire() throws {
    let test = TestLoop()
    let second = try TrackedTimer(timeInterval: 0.1) { _ in test.note("second") }
    try test.loop.schedule(after: .seconds(0.1)) { _ in
      test.note("first")
      second.invalidate()
    }
    try test.loop.add(second, forMode: .default)
    test.run(seconds: 1)
    #expect(test.log == ["first@0.1"])
  }

  @Test func siblingPostponedInACallbackFiresLater() throws {
    let test = TestLoop()
    let second = try TrackedTimer(timeInterval: 0.1) { _ in test.note("second") }
    try test.loop.schedule(after: .seconds(0.1)) { _ in second.fireDate = test.clock.date(at: 700_000_000) }
    try test.loop.add(second, forMode: .default)
    test.run(seconds: 1)
    #expect(test.log == ["second@0.7"])
  }

  @Test func equalDatesFireInTheOrderOfScheduling() throws {
    let test = TestLoop()
    for index in 0..<100 { try test.after(.seconds(0.1), "\(index)") }
    for index in 0..<3 { try test.every(.seconds(0.2), "every\(index)") }
    test.run(seconds: 0.4)
    let expected = (0..<100).map { "\($0)@0.1" } + [0.2, 0.4].flatMap { time in (0..<3).map { "every\($0)@\(time)" } }
    #expect(test.log == expected)
  }

  @Test func timersScheduledByACallbackWaitForTheNextPass() throws {
    let test = TestLoop()
    let count = Counter()
    @Sendable func chain() {
      count.up()
      _ = try? test.loop.schedule(after: .seconds(0)) { _ in chain() }
    }
    chain()
    #expect(test.loop.runPending() == .timedOut)
    #expect(count.count == 2)
    test.loop.runPending()
    #expect(count.count == 3)
  }

  @Test func fireDateSetInTheCallbackIsHonoured() throws {
    let test = TestLoop()
    let first = Counter()
    try test.loop.schedule(every: .seconds(0.1)) { timer in
      test.note("tick")
      if first.up() == 1 { timer.fireDate = test.clock.date(at: 450_000_000) }
    }
    test.run(seconds: 0.6)
    #expect(test.log == ["tick@0.1", "tick@0.45", "tick@0.55"])
  }

  @Test func firingByHandKeepsTheSchedule() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "tick")
    test.run(seconds: 0.15)
    timer.fire()
    test.run(seconds: 0.1)
    #expect(test.log == ["tick@0.1", "tick@0.15", "tick@0.2"])
    let once = try test.after(.seconds(5), "once")
    once.fire()
    #expect(!once.isValid)
    once.fire()
    timer.invalidate()
    timer.fire()
    test.run(seconds: 10)
    #expect(test.log.suffix(1) == ["once@0.25"])
  }

  @Test func firingInsideTheCallbackDoesNotReenter() throws {
    let test = TestLoop()
    try test.loop.schedule(after: .seconds(0.1)) { timer in
      test.note("tick")
      timer.fire()
    }
    test.run(seconds: 1)
    #expect(test.log == ["tick@0.1"])
  }

  @Test func invalidatingTwiceAndInTheCallback() throws {
    let test = TestLoop()
    let deaths = Counter()
    var target: Witness? = Witness { deaths.up() }
    let timer = try TrackedTimer(timeInterval: 0.1, target: #require(target), repeats: true) { _, timer in
      test.note("tick")
      timer.invalidate()
      #expect(!timer.isValid)
      timer.invalidate()
      #expect(deaths.count == 0)
    }
    target = nil
    for mode in [TrackedRunLoop.Mode.default, .tracking, .init("other")] { try test.loop.add(timer, forMode: mode) }
    test.run(seconds: 1)
    #expect(test.log == ["tick@0.1"])
    #expect(deaths.count == 1)
    timer.invalidate()
    #expect(!test.loop.contains(timer, forMode: .tracking))
    #expect(throws: RunLoopError.invalidated(item: "timer")) { try test.loop.add(timer, forMode: .default) }
  }

  @Test func aCallbackThatThrowsEndsItsTimer() throws {
    struct Failure: Error {}
    let test = TestLoop()
    let timer = try test.loop.schedule(every: .seconds(0.1)) { _ in throw Failure() }
    try test.after(.seconds(0.2), "other")
    test.run(seconds: 1)
    #expect(timer.firings == 1)
    #expect(!timer.isValid)
    #expect(timer.error is Failure)
    #expect(test.log == ["other@0.2"])
  }

  @Test func tolerance() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "tolerant")
    timer.tolerance = .seconds(0.08)
    #expect(timer.tolerance == .seconds(0.05))
    try test.after(.seconds(0.13), "exact")
    test.run(seconds: 0.18)
    // Never early; it fires with the exact timer, and without drift.
    #expect(test.log == ["tolerant@0.13", "exact@0.13"])
    test.run(seconds: 0.25)
    // At the limit the loop is awake anyway.
    #expect(test.log.dropFirst(2) == ["tolerant@0.25", "tolerant@0.35", "tolerant@0.43"])
    timer.tolerance = .seconds(-1)
    #expect(timer.tolerance == .seconds(0))
    test.run(seconds: 0.1)
    #expect(test.log.suffix(1) == ["tolerant@0.5"])
  }

  @Test func aBlockIsReleasedWhenItsTimerEnds() throws {
    let test = TestLoop()
    let deaths = Counter()
    func block() -> @Sendable (TrackedTimer) -> Void {
      let captured = Witness { deaths.up() }
      return { _ in captured.tick() }
    }
    let once = try TrackedTimer(timeInterval: 0.1, block: block())
    let repeating = try TrackedTimer(timeInterval: 0.1, repeats: true, block: block())
    try test.loop.add(once, forMode: .default)
    try test.loop.add(repeating, forMode: .default)
    test.run(seconds: 0.5)
    #expect(deaths.count == 1)
    repeating.invalidate()
    #expect(deaths.count == 2)
    let unscheduled = try TrackedTimer(timeInterval: 0.1, block: block())
    unscheduled.invalidate()
    #expect(deaths.count == 3)
  }
}
