import Testing

@testable import UndeadRunLoop

/// Sources and observers that several threads use at once.
@Suite(.timeLimit(.minutes(20))) struct MembershipTests {
  @Test func whatHasEndedStaysEndedForWhoeverLooks() {
    let source = TrackedRunLoopSource { _ in }
    source.invalidate()
    let (signals, valid, looks) = (Counter(), Counter(), Counter())
    let count = 100_000
    concurrently(2) { index in
      if index == 0 {
        while signals.count == 0 {}
        while looks.up() < count { if source.isValid { valid.up() } }
      } else {
        while looks.count < count {
          source.signal()
          signals.up()
        }
      }
    }
    #expect(valid.count == 0)
  }

  @Test(arguments: [false, true]) func aTimerThatAnotherThreadIsAboutToEndDoesNotFire(repeats: Bool) throws {
    let test = TestLoop()
    let deaths = Counter()
    let reasons = Log()
    do {
      let target = Witness { deaths.up() }
      let timer = try TrackedTimer(timeInterval: 0.1, target: target, repeats: repeats) { target, _ in target.tick() }
      timer.makeExtras().ended = { reasons.add($0 == .invalidated ? 1 : 0) }
      try test.loop.add(timer, forMode: .default)
      try test.after(.seconds(0.1), "another")
      // So far has the other thread come.
      timer.status.store(TrackedTimer.Status.invalid, ordering: .sequentiallyConsistent)
      timer.invalidate()
      test.run(seconds: 1)
      #expect(target.ticks.load(ordering: .relaxed) == 0)
      #expect(test.log == ["another@0.1"])
    }
    #expect(deaths.count == 1)
    #expect(reasons.entries == [1])
    #expect(test.loop.inspection().timers.isEmpty)
  }
}
