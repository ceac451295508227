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
    test.loop.add(observer, forMode: .default)
    test.loop.add(other, forMode: .default)
    try test.after(1, "timer")
    test.run(seconds: 0.5)
    // Both nested runs are seen by the other observer.
    #expect(test.log == ["entry@0.0", "other@0.0", "other@0.0", "exit@0.5", "other@0.5"])
  }

  @Test func observersOfOneOrderAreCalledAsTheyWereAdded() throws {
    let test = TestLoop()
    for name in ["a", "b", "c"] {
      let observer = TrackedRunLoopObserver(activities: .entry, order: 7) { _, _ in test.note(name) }
      test.loop.add(observer, forMode: .default)
      test.loop.add(observer, forMode: .default)
    }
    try test.after(1, "timer")
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
    test.loop.add(second, forMode: .default)
    test.loop.add(first, forMode: .default)
    try test.after(1, "timer")
    test.run(seconds: 0)
    #expect(test.log == ["first@0.0"])
    #expect(!test.loop.contains(second, forMode: .default))
    #expect(test.loop.add(second, forMode: .default) == .failure(.invalidated(item: "observer")))
  }

  @Test func anObserverSeesItsModesAndBelongsToOneLoop() throws {
    let test = TestLoop()
    let other = TestLoop()
    let observer = TrackedRunLoopObserver(activities: .entry) { _, _ in test.note("entry") }
    test.loop.add(observer, forMode: .tracking)
    try test.after(1, "timer", mode: .common)
    test.run(.default, seconds: 0)
    #expect(test.log.isEmpty)
    test.run(.tracking, seconds: 0)
    #expect(test.log == ["entry@0.0"])
    #expect(
      other.loop.add(observer, forMode: .default)
        == .failure(.belongsToAnotherLoop(item: "observer", loop: "test")))
    test.loop.remove(observer, forMode: .tracking)
    #expect(other.loop.add(observer, forMode: .default) == .success(true))
  }

  @Test func anInvalidatedObserverReleasesWhatItCaptured() {
    let test = TestLoop()
    let deaths = Counter()
    do {
      let captured = Witness { deaths.up() }
      let observer = TrackedRunLoopObserver { _, _ in captured.tick() }
      test.loop.add(observer, forMode: .common)
      observer.invalidate()
    }
    #expect(deaths.count == 1)
  }
}
