import Dispatch
import FoundationEssentials
import Testing

@testable import UndeadRunLoop

/// Waits until `condition` holds, at most some seconds.
func eventually(_ condition: () -> Bool) -> Bool {
  let end = RunLoopClock.monotonic.now + 20_000_000_000
  while !condition() {
    if RunLoopClock.monotonic.now > end { return false }
    pause(milliseconds: 1)
  }
  return true
}

@Suite(.timeLimit(.minutes(20))) struct WeakTimerTests {
  @Test func onALoopItEndsWithItsTarget() throws {
    let test = TestLoop()
    var target: Witness? = Witness()
    let timer = try WeakTimer.scheduledTimer(
      timeInterval: .seconds(0.1), target: target!, userInfo: "info", repeats: true, loop: test.loop, mode: .tracking
    ) { target, timer in
      target.tick()
      test.note(timer.userInfo as? String ?? "")
    }
    #expect(test.run(.default, seconds: 1) == .finished)
    test.run(.tracking, seconds: 0.25)
    target = nil
    #expect(timer.isValid)
    #expect(test.run(.tracking, seconds: 5) == .finished)
    #expect(!timer.isValid)
    #expect(test.log == ["info@0.1", "info@0.2"])
  }

  @Test func onAQueueItEndsWithItsTarget() throws {
    var target: Witness? = Witness()
    let ticks = Counter()
    let timer = try WeakTimer.scheduledTimer(
      timeInterval: .seconds(0.002), target: target!, repeats: true, dispatchQueue: .global()
    ) { _, _ in ticks.up() }
    #expect(eventually { ticks.count > 2 })
    target = nil
    #expect(eventually { !timer.isValid })
  }

  @Test func invalidatedBeforeItWasScheduled() throws {
    let target = Witness()
    let timer = try WeakTimer(timeInterval: .seconds(0.001), target: target, repeats: true, dispatchQueue: .global()) {
      target, _ in
      target.tick()
    }
    timer.invalidate()
    timer.schedule()
    timer.invalidate()
    #expect(!timer.isValid)
    #expect(target.ticks.load(ordering: .relaxed) == 0)
  }

  @Test func releasedInItsOwnCallback() throws {
    let target = Witness()
    let holder = Locked<WeakTimer?>(nil)
    let done = Completion()
    let timer = try WeakTimer(timeInterval: .seconds(0.001), target: target, repeats: true, dispatchQueue: .global()) {
      _, timer in
      holder.withLock { $0 = nil }
      timer.invalidate()
      done.finish()
    }
    holder.withLock { $0 = timer }
    timer.schedule()
    #expect(done.wait())
  }

  @Test func fireDateAndTolerance() throws {
    let target = Witness()
    let timer = try WeakTimer(timeInterval: .seconds(100), target: target, repeats: true, dispatchQueue: .global()) {
      target, _ in
      target.tick()
    }
    timer.schedule()
    let before = timer.fireDate
    timer.tolerance = .seconds(10)
    #expect(timer.tolerance == .seconds(10))
    #expect(abs(timer.fireDate.timeIntervalSince(before)) < 1)
    timer.fire()
    #expect(target.ticks.load(ordering: .relaxed) == 1)
    timer.fireDate = .distantPast
    #expect(eventually { target.ticks.load(ordering: .relaxed) == 2 })
    #expect(timer.isValid)
  }

  @Test func invalidateFromAnotherThread() throws {
    let target = Witness()
    let timer = try WeakTimer.scheduledTimer(
      timeInterval: .seconds(0.001), target: target, repeats: true, dispatchQueue: .global()
    ) { target, _ in target.tick() }
    #expect(eventually { target.ticks.load(ordering: .relaxed) > 0 })
    runThread { timer.invalidate() }
    #expect(!timer.isValid)
  }
}

@Suite(.timeLimit(.minutes(20))) struct DispatchTimerTests {
  @Test func releasedWithoutEverBeingStarted() throws {
    for _ in 0..<100 {
      let timer = try DispatchTimer(timeInterval: .seconds(1)) { _ in }
      #expect(timer.isValid)
    }
    let cancelled = try DispatchTimer(timeInterval: .seconds(1)) { _ in }
    cancelled.invalidate()
    cancelled.resume()
    #expect(!cancelled.isValid)
  }

  @Test func invalidatedInItsCallback() throws {
    let ticks = Counter()
    let timer = try DispatchTimer(timeInterval: .seconds(0.001), repeats: true) { timer in
      timer.invalidate()
      ticks.up()
    }
    timer.resume()
    timer.resume()
    #expect(eventually { ticks.count == 1 })
    #expect(!timer.isValid)
  }

  @Test func aOneShotEnds() throws {
    let ticks = Counter()
    let timer = try DispatchTimer(timeInterval: .seconds(0.001)) { _ in ticks.up() }
    timer.resume()
    #expect(eventually { !timer.isValid })
    #expect(ticks.count == 1)
    #expect(throws: RunLoopError.self) { try DispatchTimer(timeInterval: .seconds(-1)) { _ in } }
  }
}

@Suite(.timeLimit(.minutes(20))) struct PreciseTimerTests {
  @Test func idsAreNeverReused() throws {
    var seen: Set<PreciseTimer.ID> = []
    let survivor = try PreciseTimer.execTask(interval: .seconds(1000), repeats: true, async: true) {}
    for _ in 0..<100 {
      let id = try PreciseTimer.execTask(start: .seconds(1000), interval: .seconds(1000), repeats: true, async: true) {}
      #expect(seen.insert(id).inserted)
      #expect(PreciseTimer.cancelTask(id))
      #expect(!PreciseTimer.cancelTask(id))
    }
    #expect(PreciseTimer.activeTasks.contains(survivor))
    #expect(PreciseTimer.cancelTask(survivor))
  }

  @Test func tasksRunAndEnd() throws {
    let once = Counter()
    let many = Counter()
    let first = try PreciseTimer.execTask(start: .seconds(0.001), interval: .seconds(0), repeats: false, async: true) {
      once.up()
    }
    let second = try PreciseTimer.execTask(start: .seconds(0), interval: .seconds(0.001), repeats: true, async: true) {
      many.up()
    }
    #expect(eventually { once.count == 1 && many.count > 3 })
    #expect(eventually { !PreciseTimer.activeTasks.contains(first) })
    PreciseTimer.cancelTask(second)
    var target: Witness? = Witness()
    let third = try PreciseTimer.execTask(target: target!, interval: .seconds(0.001), repeats: true, async: true) {
      $0.tick()
    }
    #expect(eventually { target!.ticks.load(ordering: .relaxed) > 0 })
    target = nil
    #expect(eventually { !PreciseTimer.activeTasks.contains(third) })
  }

  @Test func badIntervals() {
    #expect(throws: RunLoopError.self) {
      try PreciseTimer.execTask(start: .seconds(-1), interval: .seconds(1), repeats: true, async: true) {}
    }
    #expect(throws: RunLoopError.self) {
      try PreciseTimer.execTask(interval: .seconds(0), repeats: true, async: true) {}
    }
  }
}

@Suite(.timeLimit(.minutes(20))) struct DisplayLinkTests {
  @Test func framesOfATimedSource() throws {
    let test = TestLoop()
    let target = Witness()
    let link = TrackedDisplayLink(target: target, source: TimedFrameSource(framesPerSecond: 50)) { _, link in
      test.note("frame")
      #expect(link.targetTimestamp - link.timestamp == link.duration * link.frameInterval)
    }
    try link.add(to: test.loop, forMode: .default)
    test.run(seconds: 0.07)
    #expect(test.log == ["frame@0.02", "frame@0.04", "frame@0.06"])
    #expect(link.duration == .milliseconds(20))
    #expect(link.timestamp == .milliseconds(60))
    link.preferredFramesPerSecond = 25
    test.run(seconds: 0.1)
    #expect(test.log.dropFirst(3) == ["frame@0.1", "frame@0.14"])
    link.invalidate()
    link.invalidate()
    #expect(test.run(seconds: 1) == .finished)
  }

  @Test func pausing() throws {
    let test = TestLoop()
    let link = TrackedDisplayLink(target: Witness(), source: TimedFrameSource(framesPerSecond: 50)) { _, _ in
      test.note("frame")
    }
    try link.add(to: test.loop, forMode: .default)
    try link.add(to: test.loop, forMode: .tracking)
    test.run(seconds: 0.03)
    link.isPaused = true
    #expect(test.run(seconds: 1) == .timedOut)
    link.isPaused = false
    test.run(.tracking, seconds: 0.02)
    #expect(test.log == ["frame@0.02", "frame@1.04"])
    #expect(throws: RunLoopError.self) { try link.add(to: TestLoop().loop, forMode: .default) }
    link.remove(from: test.loop, forMode: .default)
    link.remove(from: test.loop, forMode: .tracking)
    #expect(test.run(seconds: 1) == .finished)
    #expect(link.isValid)
  }

  @Test func theRateIsTheNearestDivisor() {
    let link = TrackedDisplayLink(target: Witness(), source: TimedFrameSource(framesPerSecond: 60)) { _, _ in }
    for (preferred, interval) in [(0, 1), (60, 1), (120, 1), (30, 2), (24, 3), (20, 3), (1, 60), (-5, 1)] {
      link.preferredFramesPerSecond = preferred
      #expect(link.frameInterval == interval)
    }
  }

  @Test func aTimedSourceDoesNotDrift() {
    let source = TimedFrameSource(framesPerSecond: 60)
    var instant: Int64 = 0
    for _ in 0..<60 { instant = source.frame(after: instant) }
    #expect(instant == 1_000_000_000)
  }

  @Test func framesOfAManualSource() throws {
    let test = TestLoop()
    let source = ManualFrameSource(framesPerSecond: 60)
    let target = Witness()
    let link = TrackedDisplayLink(target: target, source: source) { target, _ in target.tick() }
    try link.add(to: test.loop, forMode: .default)
    for frame in 1...4 {
      source.beginFrame(timestamp: .nanoseconds(frame * 16_666_666))
      test.run(seconds: 0)
    }
    #expect(target.ticks.load(ordering: .relaxed) == 4)
    link.preferredFramesPerSecond = 30
    for frame in 5...8 {
      source.beginFrame(timestamp: .nanoseconds(frame * 16_666_666))
      test.run(seconds: 0)
    }
    #expect(target.ticks.load(ordering: .relaxed) == 6)
  }

  @Test func theTargetIsHeldUntilInvalidated() throws {
    let test = TestLoop()
    let deaths = Counter()
    var target: Witness? = Witness { deaths.up() }
    let link = TrackedDisplayLink(target: target!) { target, _ in target.tick() }
    target = nil
    try link.add(to: test.loop, forMode: .default)
    #expect(deaths.count == 0)
    link.invalidate()
    #expect(deaths.count == 1)
  }

  @Test func aProxyAsTargetLetsTheOwnerDie() throws {
    let test = TestLoop()
    var cat: Cat? = Cat()
    weak let watched = cat
    let link = TrackedDisplayLink(target: WeakProxy(cat!)) { proxy, _ in proxy.forward { $0.ticks.up() } }
    try link.add(to: test.loop, forMode: .default)
    test.run(seconds: 0.05)
    #expect(watched?.ticks.count == 3)
    cat = nil
    #expect(watched == nil)
    test.run(seconds: 0.05)
  }
}
