#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
public import FoundationEssentials
import Synchronization
public import Testing
@_exported public import UndeadRunLoop

/// A run loop in virtual time: nothing sleeps, an hour of timers runs in milliseconds, and always in the same way.
///
/// ```swift
/// @Test func aTokenIsRenewedBeforeItExpires() throws {
///   let test = TestLoop()
///   let renewer = try Renewer(on: test.loop, every: .seconds(3600)) { test.note("renewed") }
///   test.advance(by: .seconds(2 * 3600))
///   test.expectLog(["renewed@3600.0", "renewed@7200.0"])
/// }
/// ```
///
/// The loop runs on the thread that calls ``advance(by:mode:sourceLocation:)`` or ``runUntilIdle(mode:limit:sourceLocation:)``.
public final class TestLoop: Sendable {
  /// Something that happened, and when.
  public struct Entry: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    /// The virtual time since the loop was made.
    public let time: Duration

    /// `name@seconds`, to the millisecond.
    public var description: String {
      let milliseconds = (time / .milliseconds(1)).rounded()
      return "\(name)@\(milliseconds / 1000)"
    }
  }

  /// The loop.
  public let loop: TrackedRunLoop
  /// The clock that the loop lives by.
  public let clock: VirtualClock
  private let journal = Mutex<[Entry]>([])

  /// - Parameters:
  ///   - name: of the loop.
  ///   - start: the date at which the clock stands, 1 January 2001 by default.
  public init(name: String = "test", start: Date = Date(timeIntervalSinceReferenceDate: 0)) {
    clock = VirtualClock(start: start)
    loop = TrackedRunLoop(name: name, clock: clock)
  }

  /// The virtual time since the loop was made.
  public var elapsed: Duration { .nanoseconds(clock.now) }

  /// The virtual time of day.
  public var date: Date { clock.date(at: clock.now) }

  // MARK: What happened

  /// Remembers that something happened now.
  public func note(_ name: String) {
    let entry = Entry(name: name, time: elapsed)
    journal.withLock { $0.append(entry) }
  }

  /// What was noted, in its order.
  public var entries: [Entry] { journal.withLock { $0 } }

  /// What was noted, as `name@seconds`.
  public var log: [String] { entries.map(\.description) }

  /// Forgets what was noted, and returns it.
  @discardableResult
  public func takeEntries() -> [Entry] {
    journal.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }

  /// Expects that exactly this was noted since the last call, each as `name@seconds`, and forgets it.
  public func expectLog(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) {
    let log = takeEntries().map(\.description)
    #expect(log == expected, sourceLocation: sourceLocation)
  }

  /// A repeating timer that notes its fires under a name.
  @discardableResult
  public func every(
    _ interval: Duration, _ name: String, mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try TrackedTimer(after: interval, repeats: true) { [weak self] _ in self?.note(name) }
    try loop.add(timer, forMode: mode)
    return timer
  }

  /// A timer that notes its fire under a name.
  @discardableResult
  public func after(
    _ interval: Duration, _ name: String, mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try TrackedTimer(after: interval) { [weak self] _ in self?.note(name) }
    try loop.add(timer, forMode: mode)
    return timer
  }

  // MARK: Time

  /// Lets time pass. What becomes due meanwhile fires at its own time, in its order, on the calling thread; what it adds for
  /// the same instant is done, too.
  public func advance(
    by duration: Duration, mode: TrackedRunLoop.Mode = .default, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let deadline = clock.now + Int64(max(.zero, duration) / .nanoseconds(1))
    while settle(mode, sourceLocation), clock.now < deadline {
      go(to: min(loop.nextInstant(mode: mode) ?? .max, deadline), mode)
    }
  }

  /// Lets time pass until a date; nothing if that has passed.
  public func advance(
    to date: Date, mode: TrackedRunLoop.Mode = .default, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    advance(by: .nanoseconds(clock.instant(at: date) - clock.now), mode: mode, sourceLocation: sourceLocation)
  }

  /// Lets time pass until time brings nothing any more: no timer is left in the mode.
  ///
  /// - Parameters:
  ///   - mode: the mode that the loop runs in.
  ///   - limit: how long at most; a repeating timer always brings something.
  ///   - sourceLocation: where a failure is recorded.
  /// - Returns: whether the loop is idle.
  @discardableResult
  public func runUntilIdle(
    mode: TrackedRunLoop.Mode = .default, limit: Duration = .seconds(86_400),
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Bool {
    let deadline = clock.now + Int64(limit / .nanoseconds(1))
    while settle(mode, sourceLocation) {
      guard let next = loop.nextInstant(mode: mode) else { return true }
      if next > deadline { return false }
      go(to: next, mode)
    }
    return false
  }

  private func go(to instant: Int64, _ mode: TrackedRunLoop.Mode) {
    // The loop moves the clock, unless it has nothing to wait for.
    if loop.run(mode: mode, until: instant) == .finished, instant > clock.now {
      clock.advance(by: .nanoseconds(instant - clock.now))
    }
  }

  /// Does what is to be done at the present instant. False, and an issue, if that never ends.
  private func settle(_ mode: TrackedRunLoop.Mode, _ sourceLocation: SourceLocation) -> Bool {
    // One pass takes all that is there when it begins. What takes more passes than that never ends.
    let passes = 10_000
    for _ in 0..<passes {
      if loop.nextInstant(mode: mode) != .min { return true }
      loop.run(mode: mode, until: .min)
    }
    Issue.record(
      "\(loop) does not come to rest at \(elapsed): what it does adds something to do at once, again and again",
      sourceLocation: sourceLocation)
    return false
  }
}
#endif
