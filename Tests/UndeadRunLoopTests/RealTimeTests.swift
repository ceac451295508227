import FoundationEssentials
import Testing

@testable import UndeadRunLoop

/// The behaviours that depend on sleeping, once on the real clock. Only what cannot fail on a busy machine is asserted.
@Suite(.serialized, .timeLimit(.minutes(20))) struct RealTimeTests {
  private func elapsed(_ body: () throws -> Void) rethrows -> Double {
    let begin = RunLoopClock.monotonic.now
    try body()
    return Instants.seconds(RunLoopClock.monotonic.now - begin)
  }

  @Test(arguments: [RunLoopClock.monotonic as RunLoopClock, RunLoopClock.wall])
  func neverEarlyAndNothingLost(clock: RunLoopClock) throws {
    let loop = TrackedRunLoop(clock: clock)
    let fired = Counter()
    let timer = try TrackedTimer(timeInterval: 0.01, repeats: true) { timer in
      #expect(timer.fireDate.timeIntervalSince(clock.date(at: clock.now)) < 0.001)
      fired.up()
    }
    try loop.add(timer, forMode: .default)
    let first = timer.fireDate
    let spent = elapsed { #expect(loop.run(for: .milliseconds(105)) == .timedOut) }
    #expect(spent >= 0.105)
    #expect(fired.count >= 1)
    // Every grid point either fired or was counted as missed.
    let points = Int((timer.fireDate.timeIntervalSince(first) / 0.01).rounded())
    #expect(fired.count + timer.missedFirings == points)
    timer.invalidate()
  }

  @Test func oneShotsFireInTheOrderOfTheirDates() throws {
    let loop = TrackedRunLoop()
    let order = Log()
    let timers = try [3, 1, 2].map { index in
      (index, try loop.schedule(after: .milliseconds(index * 2)) { _ in order.add(index) }.fireDate)
    }
    #expect(loop.run(for: nil) == .finished)
    #expect(order.entries == timers.sorted { $0.1 < $1.1 }.map(\.0))
  }

  @Test func anIdleLoopDoesNotWakeUp() throws {
    let loop = TrackedRunLoop()
    try loop.schedule(after: .seconds(1000)) { _ in }
    loop.run(for: .milliseconds(100))
    #expect(loop.core.state.pointee.statistics.wakeUps == 1)
  }

  @Test func toleranceReducesWakeUps() throws {
    let loop = TrackedRunLoop()
    let fired = Counter()
    let begin = Date()
    for index in 0..<50 {
      let date = begin.addingTimeInterval(0.02 + Double(index) * 0.0004)
      let timer = try TrackedTimer(fire: date, interval: .seconds(0), repeats: false) { _ in fired.up() }
      // Until the first must fire, the last is due.
      timer.tolerance = .seconds(0.05)
      try loop.add(timer, forMode: .default)
    }
    #expect(loop.run(for: nil) == .finished)
    #expect(fired.count == 50)
    #expect(loop.core.state.pointee.statistics.wakeUps == 1)
  }
}

/// Collects numbers, from any thread.
final class Log: Sendable {
  private let kept = Locked<[Int]>([])
  var entries: [Int] { kept.withLock { $0 } }
  func add(_ entry: Int) { kept.withLock { $0.append(entry) } }
}
