import Testing

@testable import UndeadRunLoop

@Suite(.timeLimit(.minutes(20))) struct ObserverTests {
  @Test func anObserverThatRunsTheLoopIsNotCalledAgainMeanwhile() throws {
    let test = TestLoop()
    let observer = TrackedRunLoopObserver(activities: [.entry, .exit]) { _, activity in
      test.note(activity == .entry ? "entry" : "exit")
      test.loop.run(for: .zero)
    }
    let other = TrackedRunLoopObserver(activities: .entry, order: 1) { _, _ in test.note("other") }
    try test.loop.add(observer, forMode: .default)
    try test.loop.add(other, forMode: .default)
    try test.after(.seconds(1), "timer")
    test.run(seconds: 0.5)
    // Both nested runs are seen by the other observer.
    #expect(test.log == ["entry@0.0", "other@0.0", "other@0.0", "exit@0.5", "other@0.5"])
  }

  @Test func observersOfOneOrderAreCalledAsTheyWereAdded() throws {
    let test = TestLoop()
    for name in ["a", "b", "c"] {
      let observer = TrackedRunLoopObserver(activities: .entry, order: 7) { _, _ in test.note(name) }
      try test.loop.add(observer, forMode: .default)
      try test.loop.add(observer, forMode: .default)
    }
    try test.after(.seconds(1), "timer")
    test.run(seconds: 0)
    #expect(test.log == ["a@0.0", "b@0.0", "c@0.0"])
  }

  @Test func anObserverInvalidatedByOneBeforeItIsNotCalled() throws {
    let test = TestLoop()
    let second = TrackedRunLoopObserver(activities: .entry, order: 2) { _, _ in test.note("second") }
    let first = TrackedRunLoopObserver(activities: .entry, order: 1) { _, _ in
      test.note("first")
      second.invalidate()
    }
    try test.loop.add(second, forMode: .default)
    try test.loop.add(first, forMode: .default)
    try test.after(.seconds(1), "timer")
    test.run(seconds: 0)
    #expect(test.log == ["first@0.0"])
    #expect(!test.loop.contains(second, forMode: .default))
    #expect(throws: RunLoopError.invalidated(item: "observer")) { try test.loop.add(second, forMode: .default) }
  }

  @Test func anObserverSeesItsModes() throws {
    let test = TestLoop()
    let observer = TrackedRunLoopObserver(activities: .entry) { _, _ in test.note("entry") }
    try test.loop.add(observer, forMode: .tracking)
    try test.after(.seconds(1), "timer", mode: .common)
    test.run(.default, seconds: 0)
    #expect(test.log.isEmpty)
    test.run(.tracking, seconds: 0)
    #expect(test.log == ["entry@0.0"])
  }

  @Test func anInvalidatedObserverReleasesWhatItCaptured() throws {
    let test = TestLoop()
    let deaths = Counter()
    do {
      let captured = Witness { deaths.up() }
      let observer = TrackedRunLoopObserver { _, _ in captured.tick() }
      try test.loop.add(observer, forMode: .common)
      observer.invalidate()
    }
    #expect(deaths.count == 1)
  }
}

/// Observers that change the loop's observers while these are called.
@Suite(.timeLimit(.minutes(5))) struct ObserverChangeTests {
  private let test = TestLoop()

  private func observer(
    _ name: String, order: Int = 0, repeats: Bool = true,
    _ action: @escaping @Sendable (TrackedRunLoopObserver) -> Void = { _ in }
  ) -> TrackedRunLoopObserver {
    let observer = TrackedRunLoopObserver(activities: .entry, repeats: repeats, order: order) { [test] observer, _ in
      test.note(name)
      action(observer)
    }
    _ = try? test.loop.add(observer, forMode: .default)
    return observer
  }

  private func pass() -> [String] {
    let before = test.log.count
    test.loop.run(for: .zero)
    return test.log[before...].map { String($0.prefix { $0 != "@" }) }
  }

  @Test func oneThatIsRemovedByOneBeforeItIsNotCalled() throws {
    try test.after(.seconds(1), "timer")
    let second = observer("second", order: 2)
    let first = observer("first", order: 1) { [test] _ in test.loop.remove(second, forMode: .default) }
    #expect(pass() == ["first"])
    first.invalidate()
    #expect(second.isValid)
    try test.loop.add(second, forMode: .tracking)
    #expect(pass().isEmpty)
    try test.loop.add(second, forMode: .default)
    #expect(pass() == ["second"])
  }

  @Test func oneThatIsAddedMeanwhileWaitsForTheNextActivity() throws {
    try test.after(.seconds(1), "timer")
    let added = TrackedRunLoopObserver(activities: .entry, order: 5) { [test] _, _ in test.note("added") }
    let first = observer("first") { [test] _ in _ = try? test.loop.add(added, forMode: .default) }
    #expect(pass() == ["first"])
    #expect(pass() == ["first", "added"])
    first.invalidate()
  }

  @Test func oneThatEndsItselfLeavesTheOthersAlone() throws {
    try test.after(.seconds(1), "timer")
    let observers = (0..<3).map { index in observer("\(index)", order: index) { if index == 1 { $0.invalidate() } } }
    #expect(pass() == ["0", "1", "2"])
    #expect(pass() == ["0", "2"])
    #expect(observers.map(\.isValid) == [true, false, true])
  }

  @Test func oneThatIsCalledOnceHasEndedWhenItIs() throws {
    try test.after(.seconds(1), "timer")
    let once = observer("once", repeats: false) { [test] observer in
      test.note(observer.isValid ? "valid" : "ended")
      // Not even by a run inside of it.
      test.loop.run(for: .zero)
    }
    #expect(pass() == ["once", "ended"])
    #expect(pass().isEmpty)
    #expect(throws: RunLoopError.invalidated(item: "observer")) { try test.loop.add(once, forMode: .default) }
  }

  @Test func itMayMoveToAnotherLoopWhileItIsCalled() throws {
    let other = TestLoop()
    try test.after(.seconds(1), "timer")
    try other.after(.seconds(1), "timer")
    let moving = observer("moving") { [test] observer in
      test.loop.remove(observer, forMode: .default)
      #expect((try? other.loop.add(observer, forMode: .default)) == true)
      // It is still at work: it is not called again meanwhile.
      other.loop.run(for: .zero)
    }
    #expect(pass() == ["moving"])
    #expect(other.loop.contains(moving, forMode: .default) && !test.loop.contains(moving, forMode: .default))
    moving.invalidate()
  }
}
