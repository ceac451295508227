import FoundationEssentials
import Testing

@testable import UndeadRunLoop

@Suite(.timeLimit(.minutes(20))) struct ClockTests {
  @Test func aClockSetBackKeepsRepeatingTimersWithinOneInterval() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(1), "tick")
    test.run(seconds: 3.5)
    test.clock.advance(by: .seconds(-3))
    test.run(seconds: 2.2)
    #expect(timer.isValid)
    #expect(test.log == ["tick@1.0", "tick@2.0", "tick@3.0", "tick@1.0", "tick@2.0"])
  }

  @Test func aClockSetForwardFiresOnceAndCountsTheRest() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(1), "tick")
    let once = try test.after(.seconds(5), "once")
    test.clock.set(to: test.clock.date(at: 100_500_000_000))
    test.run(seconds: 0.6)
    #expect(test.log == ["tick@100.5", "once@100.5", "tick@101.0"])
    #expect(!once.isValid)
    #expect(timer.missedFirings == 99)
  }

  @Test func aClockAtTheEndOfTimeStillEndsRuns() throws {
    let test = TestLoop()
    try test.every(.seconds(0.001), "tick")
    test.clock.set(to: .distantFuture)
    #expect(test.loop.run(for: .zero) == .timedOut)
  }

  @Test func datesOfAVirtualClock() throws {
    let start = Date(timeIntervalSince1970: 1_000_000)
    let clock = VirtualClock(start: start)
    let loop = TrackedRunLoop(clock: clock)
    let timer = try loop.schedule(after: .seconds(60)) { _ in }
    #expect(timer.fireDate == start.addingTimeInterval(60))
    let dated = try TrackedTimer(fire: Date().addingTimeInterval(100), interval: .seconds(0), repeats: false) { _ in }
    try loop.add(dated, forMode: .default)
    #expect(abs(dated.fireDate.timeIntervalSinceNow - 100) < 5)
  }

  @Test func numberingStartsAnewInTime() throws {
    let test = TestLoop()
    test.loop.core.state.pointee.timers.sequence = DueKey.sequenceLimit - 50
    for index in 0..<100 { try test.after(.seconds(1), "\(index)") }
    let tolerant = try test.every(.seconds(1), "tolerant")
    tolerant.tolerance = .seconds(0.25)
    test.run(seconds: 1)
    #expect(test.log == (0..<100).map { "\($0)@1.0" } + ["tolerant@1.0"])
    #expect(test.loop.core.state.pointee.timers.renumberings == 1)
    test.run(seconds: 1.3)
    #expect(test.log.suffix(1) == ["tolerant@2.25"])
  }

  @Test func aTimerTakesItsDateAlongToALoopWithAnotherClock() throws {
    let far = TrackedRunLoop(clock: VirtualClock(start: Date().addingTimeInterval(-1)))
    let clocks: [RunLoopClock] = [RunLoopClock.monotonic, RunLoopClock.wall, VirtualClock(start: Date())]
    for from in clocks {
      for to in clocks {
        let (first, second) = (TrackedRunLoop(clock: from), TrackedRunLoop(clock: to))
        let timer = try first.schedule(every: .seconds(100)) { _ in }
        let date = timer.fireDate
        func isKept() -> Bool { abs(timer.fireDate.timeIntervalSince(date)) < 1 }
        first.remove(timer, forMode: .default)
        #expect(isKept())
        try second.add(timer, forMode: .default)
        #expect(isKept())
        second.remove(timer, forMode: .default)
        #expect(isKept())
        let other = date.addingTimeInterval(1000)
        timer.fireDate = other
        try first.add(timer, forMode: .default)
        #expect(abs(timer.fireDate.timeIntervalSince(other)) < 1)
        timer.invalidate()
        #expect(abs(timer.fireDate.timeIntervalSince(other)) < 1)
        #expect(throws: RunLoopError.invalidated(item: "timer")) { try far.add(timer, forMode: .default) }
      }
    }
  }

  @Test func aTimerThatLeavesAndComesBackKeepsItsDateExactly() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "tick")
    test.run(seconds: 0.15)
    let date = timer.fireDate
    test.loop.remove(timer, forMode: .default)
    #expect(timer.fireDate == date)
    try test.loop.add(timer, forMode: .default)
    test.run(seconds: 0.05)
    #expect(test.log == ["tick@0.1", "tick@0.2"])
  }
}
