import FoundationEssentials
import Glibc
import Testing

@testable import UndeadRunLoop

@Suite(.timeLimit(.minutes(20))) struct RunningTests {
  @Test func aWakeUpBeforeTheSleepIsNotLost() throws {
    let loop = TrackedRunLoop()
    let sleeps = Counter()
    let observer = TrackedRunLoopObserver(activities: .beforeWaiting) { [unowned loop] _, _ in
      if sleeps.up() == 1 { loop.wakeUp() } else { loop.stop() }
    }
    try loop.add(observer, forMode: .default)
    try loop.schedule(after: .seconds(1000)) { _ in }.name = "far away"
    #expect(loop.run(for: .seconds(30)) == .stopped)
    #expect(sleeps.count == 2)
  }

  @Test func anEmptyModeIsFinished() throws {
    let test = TestLoop()
    #expect(test.run(seconds: 1) == .finished)
    try test.loop.add(TrackedRunLoopObserver { _, _ in test.note("observed") }, forMode: .default)
    #expect(test.run(seconds: 1) == .finished)
    test.loop.run()
    test.loop.run(until: .distantFuture)
    #expect(test.log.isEmpty)
    #expect(test.time == 0)
  }

  @Test func aLimitInThePastPollsOnce() throws {
    let test = TestLoop()
    try test.every(.seconds(1), "tick")
    #expect(test.loop.run(mode: .default, before: .distantPast) == .timedOut)
    #expect(test.loop.run(mode: .default, before: Date(timeIntervalSinceReferenceDate: .nan)) == .timedOut)
    #expect(test.log.isEmpty)
    test.clock.advance(by: .seconds(1))
    #expect(test.loop.run(mode: .default, before: .distantPast) == .timedOut)
    #expect(test.log == ["tick@1.0"])
  }

  @Test func everyResult() throws {
    let test = TestLoop()
    let source = TrackedRunLoopSource { _ in test.note("source") }
    try test.loop.add(source, forMode: .default)
    #expect(test.run(seconds: 0.5) == .timedOut)
    #expect(test.time == 0.5)
    source.signal()
    #expect(test.loop.run(mode: .default, before: .distantFuture) == .handledSource)
    try test.loop.schedule(after: .seconds(0.1)) { _ in test.loop.stop() }
    #expect(test.loop.run(mode: .default, before: .distantFuture) == .stopped)
    source.invalidate()
    #expect(test.loop.run(mode: .default, before: .distantFuture) == .finished)
    #expect(test.log == ["source@0.5"])
  }

  @Test func aTimerIsNotASource() throws {
    let test = TestLoop()
    for index in 1...3 { try test.after(.milliseconds(100 * index), "\(index)") }
    #expect(test.loop.run(mode: .default, before: test.clock.date(at: 250_000_000)) == .timedOut)
    #expect(test.log == ["1@0.1", "2@0.2"])
  }

  @Test func runIsNotEndedByStop() throws {
    let test = TestLoop()
    try test.loop.schedule(after: .seconds(0.1)) { _ in test.loop.stop() }
    try test.after(.seconds(0.2), "after the stop")
    test.loop.run()
    #expect(test.log == ["after the stop@0.2"])
  }

  @Test func stopWhileIdleIsIgnored() throws {
    let test = TestLoop()
    try test.every(.seconds(0.1), "tick")
    test.loop.stop()
    #expect(test.run(seconds: 0.1) == .timedOut)
  }

  @Test func aNestedRunFiresOthersAndStopsAlone() throws {
    let test = TestLoop()
    try test.loop.schedule(every: .seconds(0.1)) { timer in
      test.note("outer")
      if timer.firings == 1 {
        let result = test.loop.run(for: .seconds(1))
        test.note("nested \(result)")
      }
    }
    try test.every(.seconds(0.15), "other")
    try test.loop.schedule(after: .seconds(0.4)) { _ in test.loop.stop() }
    #expect(test.run(seconds: 0.6) == .timedOut)
    #expect(
      test.log == [
        "outer@0.1", "other@0.15", "other@0.3", "nested stopped@0.4", "other@0.45", "outer@0.5", "other@0.6",
        "outer@0.6",
      ])
  }

  @Test func theOrderOfAPass() throws {
    let test = TestLoop()
    let names: [(TrackedRunLoop.Activity, String)] = [
      (.entry, "entry"), (.beforeTimers, "beforeTimers"), (.beforeSources, "beforeSources"),
      (.beforeWaiting, "beforeWaiting"), (.afterWaiting, "afterWaiting"), (.exit, "exit"),
    ]
    let observer = TrackedRunLoopObserver { _, activity in
      test.note(names.first { $0.0 == activity }?.1 ?? "?")
    }
    try test.loop.add(observer, forMode: .default)
    let source = TrackedRunLoopSource { _ in test.note("source") }
    try test.loop.add(source, forMode: .default)
    test.loop.perform {
      test.note("block")
      source.signal()
    }
    try test.loop.schedule(after: .seconds(0)) { _ in
      test.note("timer")
      test.loop.perform { test.note("block of timer") }
    }
    try test.after(.seconds(1), "second")
    #expect(test.run(seconds: 1) == .timedOut)
    let expected = [
      "entry@0.0", "beforeTimers@0.0", "beforeSources@0.0", "block@0.0", "source@0.0", "timer@0.0",
      "block of timer@0.0", "beforeTimers@0.0", "beforeSources@0.0", "beforeWaiting@0.0", "afterWaiting@1.0",
      "second@1.0", "exit@1.0",
    ]
    #expect(test.log == expected)
  }

  @Test func theLoopOfAThreadEndsWithIt() throws {
    let loop = Locked<TrackedRunLoop?>(nil)
    let timer = try TrackedTimer(timeInterval: 1) { _ in }
    runThread {
      loop.withLock { $0 = .current }
      #expect(TrackedRunLoop.current === TrackedRunLoop.current)
      _ = try? TrackedRunLoop.current.add(timer, forMode: .default)
    }
    let ended = try #require(loop.withLock { $0 })
    #expect(ended.isFinished)
    #expect(throws: RunLoopError.loopFinished(loop: ended.name)) { try ended.add(timer, forMode: .default) }
    #expect(ended.perform {} == false)
    #expect(throws: RunLoopError.loopFinished(loop: ended.name)) { try ended.perform(waitUntilDone: true) {} }
    #expect(ended.run(for: .seconds(1)) == .finished)
    #expect(timer.isValid)
    let test = TestLoop()
    #expect(try test.loop.add(timer, forMode: .default))
  }

  @Test func aLoopCanBeDestroyedByItsCallback() throws {
    final class Holder: Sendable {
      let loop = Locked<TrackedRunLoop?>(TrackedRunLoop(clock: VirtualClock()))
    }
    let holder = Holder()
    let counter = Counter()
    try holder.loop.withLock { loop in
      _ = try loop?.schedule(after: .seconds(0.1)) { _ in
        counter.up()
        holder.loop.withLock { $0 = nil }
      }
      _ = try loop?.schedule(after: .seconds(0.2)) { _ in counter.up() }
    }
    holder.loop.withLock { $0 }?.run()
    #expect(counter.count == 2)
  }

  @Test func anotherThreadCannotRunAThreadsLoop() throws {
    let thread = RunLoopThread(name: "own")
    defer { thread.stop() }
    #expect(thread.loop.run(for: .zero) == .finished)
    thread.stop()
  }
}

/// Runs `body` on a thread of its own and waits until that has ended.
func runThread(_ body: @escaping @Sendable () -> Void) { pthread_join(newThread(body), nil) }

/// Gives other threads time while a test polls for a condition.
func pause(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }
