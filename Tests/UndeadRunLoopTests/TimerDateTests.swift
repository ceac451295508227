import Dispatch
import FoundationEssentials
import Testing

@testable import UndeadRunLoop

/// Dates that somebody set, clocks that are set, and passes inside of passes.
@Suite(.timeLimit(.minutes(20))) struct TimerDateTests {
  @Test func aClockSetBackLeavesPausedAndPostponedTimersAlone() throws {
    let test = TestLoop()
    let paused = try test.every(.seconds(1), "paused")
    let postponed = try test.every(.seconds(1), "postponed")
    try test.every(.seconds(1), "tick")
    test.run(seconds: 1.5)
    paused.fireDate = .distantFuture
    let later = test.clock.date(at: 10_000_000_000)
    postponed.fireDate = later
    test.clock.advance(by: .seconds(-1))
    test.run(seconds: 1)
    #expect(test.log == ["paused@1.0", "postponed@1.0", "tick@1.0", "tick@1.0"])
    #expect(postponed.fireDate == later)
    test.run(seconds: 9)
    #expect(test.log.filter { $0.hasPrefix("p") }.suffix(1) == ["postponed@10.0"])
    // Going on from there, it is on a grid again.
    test.clock.advance(by: .seconds(-5))
    test.run(seconds: 1)
    #expect(test.log.filter { $0.hasPrefix("p") }.suffix(1) == ["postponed@6.0"])
  }

  @Test func aClockSetBackBeforeTheFirstTickDelaysItByAnIntervalAtMost() throws {
    let test = TestLoop()
    try test.every(.seconds(1), "tick")
    test.run(seconds: 0.5)
    test.clock.advance(by: .seconds(-100))
    test.run(seconds: 1.0)
    #expect(test.log.count == 1)
  }

  @Test func datesThatHadPassedWhenTheyWereSetAreNoMissedTicks() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(1), "tick")
    timer.fireDate = .distantPast
    test.run(seconds: 0.1)
    #expect(timer.missedFirings == 0)
    #expect(test.log == ["tick@0.0"])
    #expect(timer.fireDate > test.clock.date(at: test.clock.now))
    #expect(timer.fireDate <= test.clock.date(at: 1_100_000_000))
    let lateness = try #require(test.loop.inspection().timers.first).worstLateness
    #expect(lateness < 0.2)

    let dated = try TrackedTimer(fire: Date(timeIntervalSince1970: 0), interval: .seconds(1), repeats: true) { _ in }
    try test.loop.add(dated, forMode: .default)
    test.run(seconds: 0.1)
    #expect(dated.firings == 1)
    #expect(dated.missedFirings == 0)
  }

  @Test func ticksThatPassAfterADateWasSetAreMissed() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(1), "tick")
    timer.fireDate = test.clock.date(at: -2_500_000_000)
    // On the grid of the half seconds three points pass before anybody runs the loop.
    test.clock.advance(by: .seconds(3))
    test.run(seconds: 0.1)
    #expect(timer.missedFirings == 3)
    test.run(seconds: 0.5)
    #expect(test.log == ["tick@3.0", "tick@3.5"])
  }

  @Test func whatAPassPutsOffIsSeenByARunInsideOfIt() throws {
    let test = TestLoop()
    try test.loop.schedule(after: .seconds(1)) { _ in
      let early = try TrackedTimer(fire: Date(), interval: .seconds(0), repeats: false) { _ in test.note("early") }
      try test.loop.add(early, forMode: .default)
      early.fireDate = test.clock.date(at: 500_000_000)
    }
    try test.loop.schedule(after: .seconds(1)) { _ in
      test.note("outer")
      #expect(test.loop.limitDate(forMode: .tracking) == nil)
      test.loop.run(for: .seconds(1))
      test.note("outer ends")
    }
    try test.after(.seconds(1), "last")
    test.run(seconds: 5)
    #expect(test.log == ["outer@1.0", "early@1.0", "last@1.0", "outer ends@2.0"])
  }

  @Test func aRunInsideOfAPassDoesNotHangOnWhatThePassPutOff() throws {
    let loop = TrackedRunLoop()
    let fired = Counter()
    try loop.schedule(after: .seconds(0)) { _ in
      let early = try TrackedTimer(timeInterval: 0) { _ in
        fired.up()
        loop.stop()
      }
      try loop.add(early, forMode: .default)
      early.fireDate = Date(timeIntervalSinceNow: -1)
    }
    // Were the timer not seen, the run inside would last that long.
    try loop.schedule(after: .seconds(0)) { _ in #expect(loop.run(for: .seconds(20)) == .stopped) }
    loop.run(for: .milliseconds(1))
    #expect(fired.count == 1)
  }

  @Test func countsGoBeyond32Bits() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(1), "tick")
    timer.withHome { _ in
      timer.withTally {
        $0.fires = UInt64(UInt32.max)
        $0.missed = UInt64(UInt32.max)
      }
    }
    test.clock.advance(by: .milliseconds(2500))
    test.run(seconds: 0.6)
    #expect(timer.firings == Int(UInt32.max) + 2)
    #expect(timer.missedFirings == Int(UInt32.max) + 1)
  }

  @Test func firingByHandADrivenLoopsTimerWaitsForTheDriver() throws {
    let queue = DispatchQueue(label: "driver")
    let loop = TrackedRunLoop(name: "driven")
    let inside = Counter()
    let fired = Counter()
    let modes = [TrackedRunLoop.Mode.default, .init("only here")]
    let driver = loop.drive(on: queue, mode: modes[1])
    for mode in modes {
      let timer = try TrackedTimer(timeInterval: 1000, repeats: true) { _ in
        dispatchPrecondition(condition: .onQueue(queue))
        #expect(inside.up() == fired.count + 1)
        fired.up()
      }
      try loop.add(timer, forMode: modes[1])
      if mode == .default { try loop.add(timer, forMode: .default) }
      timer.fire()
    }
    #expect(eventually { fired.count == 2 })
    driver.cancel()
  }
}
