import FoundationEssentials
import Testing

@testable import UndeadRunLoop

/// What swift-corelibs-foundation's TestRunLoop expects of `RunLoop`, in terms of this module. What it expects of the main
/// thread is in `MainLoopTests`.
@Suite(.timeLimit(.minutes(20))) struct FoundationRunLoopBehaviorTests {
  @Test func aThreadAlwaysGetsTheSameLoop() {
    #expect(TrackedRunLoop.main == TrackedRunLoop.main)
    #expect(TrackedRunLoop.main === TrackedRunLoop.main)
    let others = Locked<[TrackedRunLoop]>([])
    for _ in 0..<2 {
      runThread {
        let loop = TrackedRunLoop.current
        #expect(loop === TrackedRunLoop.current)
        #expect(loop != TrackedRunLoop.main)
        #expect(loop.isCurrentThread)
        others.withLock { $0.append(loop) }
      }
    }
    let (first, second) = others.withLock { ($0.first, $0.last) }
    #expect(first !== second)
  }

  @Test func currentModeIsTheRunningOne() throws {
    let test = TestLoop()
    let modal = TrackedRunLoop.Mode("modal")
    #expect(test.loop.currentMode == nil)
    try test.loop.schedule(after: .seconds(0.01)) { _ in
      #expect(test.loop.currentMode == .default)
      test.run(modal, seconds: 0.02)
      #expect(test.loop.currentMode == .default)
      test.note("outer")
    }
    try test.loop.schedule(after: .seconds(0.02), mode: modal) { _ in
      #expect(test.loop.currentMode == modal)
      test.note("inner")
    }
    #expect(test.loop.run(mode: .default, before: test.clock.date(at: 50_000_000)) == .finished)
    #expect(test.log == ["inner@0.02", "outer@0.02"])
    #expect(test.loop.currentMode == nil)
  }

  @Test func theLimitDateIsTheNextTimers() throws {
    let test = TestLoop()
    try test.after(.seconds(1), "second")
    try test.after(.seconds(0.5), "other mode", mode: .tracking)
    #expect(test.loop.limitDate(forMode: .default) == test.clock.date(at: 1_000_000_000))
    #expect(test.loop.limitDate(forMode: .tracking) == test.clock.date(at: 500_000_000))
    try test.loop.add(TrackedRunLoopSource { _ in }, forMode: .init("sources"))
    #expect(test.loop.limitDate(forMode: .init("sources")) == .distantFuture)
    #expect(test.log.isEmpty)
  }

  @Test func runningUntilNowPolls() throws {
    let test = TestLoop()
    try test.every(.seconds(1), "tick")
    try test.loop.add(TrackedRunLoopSource { _ in }, forMode: .default)
    test.loop.run(until: test.clock.date(at: 0))
    #expect(test.time == 0)
    #expect(test.log.isEmpty)
  }

  @Test func aSourceKnowsItsModesAndDiesWhenInvalidated() throws {
    let test = TestLoop()
    let custom = TrackedRunLoop.Mode("custom")
    func modes(_ source: TrackedRunLoopSource) -> [TrackedRunLoop.Mode] {
      [.default, custom].filter { test.loop.contains(source, forMode: $0) }
    }
    weak var watched: TrackedRunLoopSource?
    let deaths = Counter()
    do {
      let captured = Witness { deaths.up() }
      let source = TrackedRunLoopSource { _ in captured.tick() }
      watched = source
      #expect(modes(source) == [])
      #expect(try test.loop.add(source, forMode: .default))
      #expect(modes(source) == [.default])
      #expect(try !test.loop.add(source, forMode: .default))
      #expect(modes(source) == [.default])
      try test.loop.add(source, forMode: custom)
      #expect(modes(source) == [.default, custom])
      test.loop.remove(source, forMode: custom)
      #expect(modes(source) == [.default])
      #expect(test.run(custom, seconds: 1) == .finished)
      try test.loop.add(source, forMode: custom)
      #expect(modes(source) == [.default, custom])
      source.invalidate()
      #expect(modes(source) == [])
    }
    #expect(watched == nil)
    #expect(deaths.count == 1)
    #expect(test.run(seconds: 1) == .finished)
  }
}
