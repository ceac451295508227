import Testing

@testable import UndeadRunLoop

@Suite(.timeLimit(.minutes(20))) struct ToleranceTests {
  @Test func settingItDoesNotRestartThePhase() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "tick")
    for tolerance in [Duration.milliseconds(10), .milliseconds(50), .zero, .milliseconds(20)] {
      let due = timer.fireDate
      test.run(seconds: 0.03)
      timer.tolerance = tolerance
      #expect(timer.fireDate == due)
      test.run(seconds: 0.03)
      timer.tolerance = .seconds(0)
      #expect(timer.fireDate == due)
      test.run(seconds: 0.04)
    }
    #expect(test.log == ["tick@0.1", "tick@0.2", "tick@0.3", "tick@0.4"])
  }

  @Test func timersThatOverlapShareAWakeUp() throws {
    let test = TestLoop()
    for (interval, name) in [(100, "a"), (120, "b"), (140, "c")] {
      try test.after(.milliseconds(interval), name).tolerance = .seconds(0.05)
    }
    try test.after(.seconds(0.3), "d")
    #expect(test.run(seconds: 1) == .finished)
    // All soft dates have come when the first hard one has: 0.1 + 0.05.
    #expect(test.log == ["a@0.15", "b@0.15", "c@0.15", "d@0.3"])
    #expect(test.loop.core.state.pointee.statistics.wakeUps == 2)
  }

  @Test func aOneShotMayBeMoreTolerantThanItsInterval() throws {
    let test = TestLoop()
    let timer = try test.after(.seconds(0.1), "tick")
    timer.tolerance = .seconds(1)
    #expect(timer.tolerance == .seconds(1))
    try test.after(.seconds(0.9), "exact")
    test.run(seconds: 2)
    #expect(test.log == ["tick@0.9", "exact@0.9"])
  }

  @Test func lateTicksDoNotDrift() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "tick")
    timer.tolerance = .seconds(0.04)
    for _ in 0..<100 { test.run(seconds: 0.1) }
    #expect(timer.firings + timer.missedFirings >= 99)
    #expect(timer.missedFirings == 0)
    #expect(
      (timer.fireDate.timeIntervalSinceReferenceDate * 10).rounded() / 10
        == timer.fireDate.timeIntervalSinceReferenceDate)
  }
}
