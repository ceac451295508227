#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

/// A clock that a test holds in its hand: time passes when the test says so, or by itself as soon as the loop is idle.
///
/// With `advancesWhenIdle` a loop that would sleep moves the clock to its next date instead: an hour of timers runs in
/// milliseconds and always in the same way. Without it a sleeping loop wakes when another thread calls `advance(by:)`.
public final class VirtualClock: RunLoopClock, @unchecked Sendable {
  fileprivate struct State {
    var now: Int64
    var observers: [ObjectIdentifier: WeakObserver] = [:]
  }
  fileprivate struct WeakObserver {
    weak var observer: TrackedRunLoop?
  }

  private let state: Locked<State>
  /// The date at which the clock stood when it was made.
  private let start: Date
  private let advancesWhenIdle: Bool

  /// - Parameters:
  ///   - start: the date at which the clock stands, 1 January 2001 by default.
  ///   - advancesWhenIdle: whether an idle loop moves the clock to its next date.
  public init(start: Date = Date(timeIntervalSinceReferenceDate: 0), advancesWhenIdle: Bool = true) {
    self.start = start
    self.advancesWhenIdle = advancesWhenIdle
    state = Locked(State(now: 0))
  }

  /// Nanoseconds since the clock was made.
  package override var now: Int64 { state.withLock { $0.now } }

  package override func date(at instant: Int64) -> Date { Instants.date(instant, after: start) }

  package override func instant(at date: Date) -> Int64 { Instants.nanoseconds(from: start, to: date) }

  override func wait(until deadline: Int64) -> ClockWait {
    state.withLock { state in
      if deadline <= state.now { return .elapsed }
      guard advancesWhenIdle, deadline != .max else { return .untilJump }
      state.now = deadline
      return .elapsed
    }
  }

  override func addJumpObserver(_ observer: TrackedRunLoop) {
    state.withLock { $0.observers[ObjectIdentifier(observer)] = WeakObserver(observer: observer) }
  }

  override func removeJumpObserver(_ observer: TrackedRunLoop) {
    state.withLock { _ = $0.observers.removeValue(forKey: ObjectIdentifier(observer)) }
  }

  /// Lets time pass; a negative duration sets the clock back, as an administrator might. Safe from any thread.
  public func advance(by duration: Duration) { move { Instants.add($0, Instants.nanoseconds(duration)) } }

  /// Sets the clock to a date, later or earlier than the present one. Safe from any thread.
  public func set(to date: Date) {
    let instant = instant(at: date)
    move { _ in instant }
  }

  private func move(_ change: (Int64) -> Int64) {
    state.withLock { state in
      // A moment that never comes is not now: a run that is to end now would never end.
      state.now = min(change(state.now), Instants.never - 1)
    }
    let observers = state.withLock { $0.observers.values.compactMap(\.observer) }
    for observer in observers { observer.clockDidJump() }
  }
}
#endif
