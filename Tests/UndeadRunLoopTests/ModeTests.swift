import Testing

@testable import UndeadRunLoop

@Suite(.timeLimit(.minutes(20))) struct ModeTests {
  let modal = TrackedRunLoop.Mode("modal")

  @Test func commonItemsAreInEveryCommonModeNowAndLater() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "common", mode: .common)
    let source = TrackedRunLoopSource { _ in }
    let observer = TrackedRunLoopObserver { _, _ in }
    try test.loop.add(source, forMode: .common)
    try test.loop.add(observer, forMode: .common)
    for mode in [TrackedRunLoop.Mode.default, .tracking, .common] {
      #expect(test.loop.contains(timer, forMode: mode))
      #expect(test.loop.contains(source, forMode: mode))
      #expect(test.loop.contains(observer, forMode: mode))
    }
    #expect(!test.loop.contains(timer, forMode: modal))
    test.loop.addCommonMode(modal)
    #expect(test.loop.commonModes == [.default, .tracking, modal])
    #expect(test.loop.contains(timer, forMode: modal))
    #expect(test.loop.contains(source, forMode: modal))
    #expect(test.loop.contains(observer, forMode: modal))
    test.run(modal, seconds: 0.1)
    #expect(test.log == ["common@0.1"])
    test.loop.remove(timer, forMode: .common)
    test.loop.remove(source, forMode: .common)
    test.loop.remove(observer, forMode: .common)
    for mode in [TrackedRunLoop.Mode.default, .tracking, .common, modal] {
      #expect(!test.loop.contains(timer, forMode: mode))
      #expect(!test.loop.contains(source, forMode: mode))
      #expect(!test.loop.contains(observer, forMode: mode))
    }
    #expect(timer.isValid)
  }

  @Test func modesThatBecomeEqualAreJoined() throws {
    let test = TestLoop()
    let wide = try test.every(.seconds(0.1), "wide", mode: .common)
    try test.loop.add(wide, forMode: modal)
    try test.every(.seconds(0.1), "common", mode: .common)
    test.loop.addCommonMode(modal)
    try test.every(.seconds(0.1), "third", mode: .common)
    test.run(modal, seconds: 0.1)
    #expect(test.log.sorted() == ["common@0.1", "third@0.1", "wide@0.1"])
  }

  @Test func runningInCommonReturnsFinished() throws {
    let test = TestLoop()
    try test.every(.seconds(0.1), "common", mode: .common)
    #expect(test.run(.common, seconds: 1) == .finished)
    #expect(test.log.isEmpty)
  }

  @Test func addingTwiceChangesNothing() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "tick")
    #expect(try test.loop.add(timer, forMode: .default) == false)
    #expect(try test.loop.add(timer, forMode: .tracking))
    #expect(try test.loop.add(timer, forMode: .tracking) == false)
    test.run(seconds: 0.1)
    test.run(.tracking, seconds: 0.1)
    #expect(test.log == ["tick@0.1", "tick@0.2"])
    test.loop.remove(timer, forMode: .default)
    #expect(test.run(seconds: 1) == .finished)
    test.loop.remove(timer, forMode: .default)
    test.run(.tracking, seconds: 0.1)
    #expect(test.log.count == 3)
  }

  @Test func aTimerWhoseModeDoesNotRunFiresLateAndOnce() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "default")
    try test.every(.seconds(0.25), "tracking", mode: .tracking)
    test.run(.tracking, seconds: 1.05)
    test.run(.default, seconds: 0.1)
    #expect(
      test.log == ["tracking@0.25", "tracking@0.5", "tracking@0.75", "tracking@1.0", "default@1.05", "default@1.1"])
    #expect(timer.missedFirings == 9)
  }

  @Test func modesWithEqualNamesAreEqual() {
    #expect(TrackedRunLoop.Mode("modal") == modal)
    #expect(modal.rawValue == "modal")
    #expect(TrackedRunLoop.Mode("default") == .default)
    #expect(TrackedRunLoop.Mode("common") == .common)
    #expect(TrackedRunLoop.Mode("tracking") == .tracking)
    #expect(modal != .default)
  }

  @Test func aThousandModesAreNoBurden() throws {
    let test = TestLoop()
    for index in 0..<1000 {
      let mode = TrackedRunLoop.Mode("burden \(index)")
      try test.after(.seconds(0.001), "x", mode: mode)
      test.run(mode, seconds: 0.002)
    }
    #expect(test.log.count == 1000)
    #expect(test.loop.core.state.pointee.timers.setCount < 10)
  }

  @Test func timersKeepTheirDateWhenTheyMoveBetweenModes() throws {
    let test = TestLoop()
    let timer = try test.every(.seconds(0.1), "tick")
    timer.tolerance = .seconds(0.01)
    try test.loop.add(timer, forMode: modal)
    test.loop.remove(timer, forMode: .default)
    test.run(modal, seconds: 0.1)
    #expect(test.log == ["tick@0.1"])
  }

  @Test func aTimerThatChangesItsModeInItsCallbackStaysOnItsGrid() throws {
    let test = TestLoop()
    try test.loop.schedule(every: .seconds(0.1)) { [modal] timer in
      test.note("tick")
      test.loop.remove(timer, forMode: .default)
      try test.loop.add(timer, forMode: modal)
    }
    #expect(test.run(seconds: 1) == .finished)
    test.run(modal, seconds: 0.15)
    #expect(test.log == ["tick@0.1", "tick@0.2"])
  }

  @Test func aTimerThatLeavesInItsCallbackHasItsNextDate() throws {
    let test = TestLoop()
    let timer = try test.loop.schedule(every: .seconds(0.1)) { timer in
      test.note("tick")
      test.loop.remove(timer, forMode: .default)
    }
    #expect(test.run(seconds: 1) == .finished)
    #expect(timer.isValid)
    #expect(timer.fireDate == test.clock.date(at: 200_000_000))
    try test.loop.add(timer, forMode: .default)
    test.run(seconds: 1)
    #expect(test.log == ["tick@0.1", "tick@0.2"])
  }
}
