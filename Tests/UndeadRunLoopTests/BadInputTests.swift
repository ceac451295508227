import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadRunLoop

/// What nobody should do, and what comes of it: a documented result or an error, and nothing lost.
@Suite(.timeLimit(.minutes(20))) struct BadInputTests {
  private static let intervals: [Duration] = [.seconds(-1), .nanoseconds(-1), .seconds(Int64.min), .seconds(Int64.max)]

  @Test(arguments: intervals)
  func intervalsOfAllTimersAreRefused(interval: Duration) {
    let loop = TestLoop().loop
    let target = Witness()
    #expect(throws: RunLoopError.self) { try loop.schedule(every: interval) { _ in } }
    #expect(throws: RunLoopError.self) { try loop.schedule(every: interval, weak: target) { _, _ in } }
    #expect(throws: RunLoopError.self) { try loop.perform(after: interval, on: target) { _ in } }
    #expect(throws: RunLoopError.self) {
      try WeakTimer(timeInterval: interval, target: target, repeats: true) { _, _ in }
    }
    #expect(throws: RunLoopError.self) { try DispatchTimer(timeInterval: interval, repeats: true) { _ in } }
    #expect(throws: RunLoopError.self) {
      try PreciseTimer.execTask(start: interval, interval: .seconds(1), repeats: false, async: true) {}
    }
    #expect(loop.inspection().timers.isEmpty)
  }

  @Test func datesBeyondAllBoundsArePastOrNever() throws {
    let test = TestLoop()
    for beyond in [Double.infinity, .greatestFiniteMagnitude] {
      let never = try TrackedTimer(
        fire: Date(timeIntervalSinceReferenceDate: beyond), interval: .seconds(1), repeats: false, block: { _ in })
      let past = try TrackedTimer(
        fire: Date(timeIntervalSinceReferenceDate: -beyond), interval: .seconds(1), repeats: false,
        block: { _ in test.note("past") })
      try test.loop.add(never, forMode: .default)
      try test.loop.add(past, forMode: .default)
      test.run(seconds: 10)
      #expect(never.isValid && !past.isValid)
      never.fireDate = Date(timeIntervalSinceReferenceDate: -beyond)
      test.run(seconds: 1)
      #expect(!never.isValid)
    }
    #expect(test.log.count == 2)
    #expect(test.loop.run(mode: .default, before: Date(timeIntervalSinceReferenceDate: .nan)) != .handledSource)
  }

  @Test func invalidatingFromManyThreadsAtOnce() throws {
    let thread = RunLoopThread(name: "raced")
    defer { thread.stop() }
    for _ in 0..<50 {
      let died = Counter()
      weak var seen: TrackedTimer?
      do {
        let target = Witness { died.up() }
        let timer = try TrackedTimer(timeInterval: 0.0001, target: target, repeats: true) { target, timer in
          target.tick()
          timer.invalidate()
        }
        seen = timer
        try thread.loop.add(timer, forMode: .default)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
          timer.invalidate()
          timer.invalidate()
        }
        #expect(!timer.isValid)
      }
      #expect(eventually { died.count == 1 && seen == nil })
    }
  }

  @Test func aCallbackThatBlocksHoldsUpNobodyElse() throws {
    let thread = RunLoopThread(name: "stuck")
    let loop = thread.loop
    let release = DispatchSemaphore(value: 0)
    let entered = DispatchSemaphore(value: 0)
    try loop.schedule(after: .seconds(0)) { _ in
      entered.signal()
      release.wait()
    }
    entered.wait()
    let fired = Counter()
    let waiting = try loop.schedule(after: .seconds(0)) { _ in fired.up() }
    let cancelled = try loop.schedule(after: .seconds(0)) { _ in fired.up() }
    cancelled.invalidate()
    waiting.tolerance = .seconds(0)
    #expect(loop.inspection().timers.count >= 1)
    #expect(TrackedRunLoop.inspect().loops.contains { $0.name == "stuck" })
    release.signal()
    #expect(eventually { fired.count == 1 })
    thread.stop()
    #expect(eventually { loop.isFinished })
  }

  @Test func aCallbackMayDestroyItsTimerAndItsTarget() throws {
    final class Holder: Sendable {
      let target = Locked<Witness?>(nil)
      let timer = Locked<TrackedTimer?>(nil)
    }
    for holding in TargetHolding.allCases {
      let test = TestLoop()
      let holder = Holder()
      let died = Counter()
      weak var seen: TrackedTimer?
      do {
        let target = Witness { died.up() }
        let timer = try TrackedTimer(timeInterval: 0.1, target: target, holding: holding, repeats: true) {
          target, timer in
          holder.target.withLock { $0 = nil }
          holder.timer.withLock { $0 = nil }
          test.loop.remove(timer, forMode: .default)
          timer.invalidate()
          target.tick()
        }
        seen = timer
        holder.target.withLock { $0 = target }
        holder.timer.withLock { $0 = timer }
        try test.loop.add(timer, forMode: .default)
      }
      test.run(seconds: 1)
      #expect(died.count == 1)
      #expect(seen == nil)
      #expect(test.loop.inspection().timers.isEmpty)
    }
  }

  @Test func timersByTheMillion() throws {
    let count = Thorough.count(50_000, of: 1_000_000)
    let test = TestLoop()
    let fired = Counter()
    var kept: [TrackedTimer] = []
    for index in 0..<count {
      let timer = try test.loop.schedule(after: .milliseconds(index % 1000 * 10)) { _ in fired.up() }
      if index % 2 == 0 { kept.append(timer) }
    }
    for timer in kept { timer.invalidate() }
    kept = []
    test.run(seconds: 11)
    #expect(fired.count == count / 2)
    #expect(test.loop.inspection().timers.isEmpty)
  }
}
