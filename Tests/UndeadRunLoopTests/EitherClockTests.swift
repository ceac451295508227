import FoundationEssentials
import Synchronization
import Testing

@testable import UndeadRunLoop

/// The central behaviours on virtual time and once on real time, where only "never early" is asserted of times.
@Suite(.timeLimit(.minutes(20))) struct EitherClockTests {
  enum Time: CaseIterable, Sendable {
    case virtual, monotonic, wall

    func loop() -> TrackedRunLoop {
      switch self {
      case .virtual: TrackedRunLoop(clock: VirtualClock())
      case .monotonic: TrackedRunLoop(clock: RunLoopClock.monotonic)
      case .wall: TrackedRunLoop(clock: RunLoopClock.wall)
      }
    }
  }

  /// What happened, in its order.
  private final class Journal: Sendable {
    private let lines = Locked<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  private func isNotEarly(_ timer: TrackedTimer, _ loop: TrackedRunLoop) -> Bool {
    // Dates are seconds since 2001 as a Double, and real clocks are read twice.
    timer.fireDate <= loop.clock.date(at: loop.clock.now).addingTimeInterval(0.001)
  }

  @Test(arguments: Time.allCases)
  func aOneShotFiresOnceAndReleasesItsTarget(time: Time) throws {
    let loop = time.loop()
    let deaths = Counter()
    weak var watched: Witness?
    let timer: TrackedTimer
    do {
      let target = Witness { deaths.up() }
      watched = target
      timer = try TrackedTimer(timeInterval: 0.005, target: target) { target, timer in
        #expect(isNotEarly(timer, loop))
        target.tick()
      }
    }
    try loop.add(timer, forMode: .default)
    #expect(watched != nil)
    #expect(loop.run(for: nil) == .finished)
    #expect(timer.firings == 1)
    #expect(!timer.isValid)
    #expect(deaths.count == 1)
  }

  @Test(arguments: Time.allCases)
  func aRepeatingTimerStaysOnItsGridAndLosesNoTick(time: Time) throws {
    let loop = time.loop()
    let timer = try TrackedTimer(timeInterval: 0.002, repeats: true) { timer in
      #expect(isNotEarly(timer, loop))
      if timer.firings == 10 { timer.invalidate() }
    }
    timer.tolerance = .seconds(0.001)
    try loop.add(timer, forMode: .default)
    let first = timer.fireDate
    #expect(loop.run(for: nil) == .finished)
    #expect(timer.firings == 10)
    // Invalid, it still shows the date of its last tick.
    let points = (timer.fireDate.timeIntervalSince(first) / 0.002).rounded()
    #expect(Int(points) >= 9)
    #expect(Int(points) <= timer.firings + timer.missedFirings)
  }

  @Test(arguments: Time.allCases)
  func aSiblingInvalidatedInACallbackDoesNotFire(time: Time) throws {
    let loop = time.loop()
    let journal = Journal()
    let second = try TrackedTimer(timeInterval: 0.005) { _ in journal.note("second") }
    let first = try loop.schedule(after: .seconds(0.005)) { _ in
      journal.note("first")
      second.invalidate()
    }
    try loop.add(second, forMode: .default)
    second.fireDate = first.fireDate
    first.fireDate = second.fireDate.addingTimeInterval(-0.001)
    #expect(loop.run(for: nil) == .finished)
    #expect(journal.all == ["first"])
  }

  @Test(arguments: Time.allCases)
  func aFireDateSetInTheCallbackIsHonoured(time: Time) throws {
    let loop = time.loop()
    let second = Locked<Date?>(nil)
    let timer = try loop.schedule(every: .seconds(0.002)) { timer in
      if timer.firings > 1 {
        #expect(second.withLock { $0 ?? .distantFuture } <= loop.clock.date(at: loop.clock.now + 1_000_000))
        return timer.invalidate()
      }
      let date = loop.clock.date(at: loop.clock.now + 20_000_000)
      second.withLock { $0 = date }
      timer.fireDate = date
    }
    #expect(loop.run(for: nil) == .finished)
    #expect(timer.firings == 2)
  }

  @Test(arguments: Time.allCases)
  func aTimerWaitsForItsMode(time: Time) throws {
    let loop = time.loop()
    let journal = Journal()
    let timer = try loop.schedule(after: .seconds(0.001)) { _ in journal.note("default") }
    try loop.schedule(after: .seconds(0.005), mode: .tracking) { _ in journal.note("tracking") }
    #expect(loop.run(mode: .tracking, for: nil) == .finished)
    #expect(timer.isValid)
    #expect(loop.run(mode: .common, for: nil) == .finished)
    #expect(loop.run(mode: .default, for: nil) == .finished)
    #expect(journal.all == ["tracking", "default"])
  }

  @Test(arguments: Time.allCases)
  func aStopEndsTheInnermostRun(time: Time) throws {
    let loop = time.loop()
    let journal = Journal()
    let outer = try loop.schedule(every: .seconds(0.001)) { timer in
      guard timer.firings == 1 else { return loop.stop() }
      _ = try loop.schedule(after: .seconds(0.002)) { _ in loop.stop() }
      journal.note("nested \(loop.run(for: nil))")
      #expect(timer.firings == 1)
    }
    journal.note("outer \(loop.run(for: nil))")
    #expect(journal.all == ["nested stopped", "outer stopped"])
    #expect(outer.firings == 2)
  }

  @Test(arguments: Time.allCases)
  func everyRunTellsWhyItEnded(time: Time) throws {
    let loop = time.loop()
    #expect(loop.run(for: nil) == .finished)
    let source = TrackedRunLoopSource { _ in }
    try loop.add(source, forMode: .default)
    let begin = loop.clock.now
    #expect(loop.run(for: .milliseconds(5)) == .timedOut)
    #expect(loop.clock.now >= begin + 5_000_000)
    #expect(loop.run(mode: .default, before: .distantPast) == .timedOut)
    source.signal()
    #expect(loop.run(mode: .default, before: .distantFuture) == .handledSource)
    loop.perform { loop.stop() }
    #expect(loop.run(mode: .default, before: .distantFuture) == .stopped)
    source.invalidate()
    #expect(loop.run(mode: .default, before: .distantFuture) == .finished)
  }

  @Test(arguments: Time.allCases)
  func aPassHasItsOrder(time: Time) throws {
    let loop = time.loop()
    let journal = Journal()
    let names: [TrackedRunLoop.Activity: String] = [
      .entry: "entry", .beforeTimers: "beforeTimers", .beforeSources: "beforeSources", .beforeWaiting: "beforeWaiting",
      .afterWaiting: "afterWaiting", .exit: "exit",
    ]
    try loop.add(TrackedRunLoopObserver { _, activity in journal.note(names[activity] ?? "?") }, forMode: .default)
    for number in 1...3 { loop.perform { journal.note("block \(number)") } }
    let timer = try TrackedTimer(timeInterval: 0.01) { _ in
      journal.note("timer")
      loop.perform { journal.note("block of timer") }
    }
    try loop.add(timer, forMode: .default)
    #expect(loop.run(for: nil) == .finished)
    // A busy machine, or a spurious wake-up, may add passes before the timer.
    let log = journal.all
    #expect(log.prefix(6) == ["entry", "beforeTimers", "beforeSources", "block 1", "block 2", "block 3"])
    #expect(log.suffix(4) == ["afterWaiting", "timer", "block of timer", "exit"])
  }

  @Test(arguments: Time.allCases)
  func anotherThreadsBlocksWakeTheLoopAndRunInOrder(time: Time) throws {
    let loop = time.loop()
    let journal = Journal()
    try loop.add(TrackedRunLoopSource { _ in }, forMode: .default)
    let sleeps = Completion()
    let observer = TrackedRunLoopObserver(activities: .beforeWaiting, repeats: false) { _, _ in sleeps.finish() }
    try loop.add(observer, forMode: .default)
    let caller = RunLoopThread(name: "caller")
    caller.loop.perform {
      _ = sleeps.wait()
      for number in 1...3 { loop.perform { journal.note("\(number)") } }
      loop.perform { loop.stop() }
    }
    #expect(loop.run(for: nil) == .stopped)
    #expect(journal.all == ["1", "2", "3"])
    caller.stop()
  }
}
