import FoundationEssentials

/// A clock that a test holds in its hand: time passes when the test says so, or by itself as soon as the loop is idle.
///
/// With `advancesWhenIdle` a loop that would sleep moves the clock to its next date instead: an hour of timers runs in
/// milliseconds and always in the same way. Without it a sleeping loop wakes when another thread calls `advance(by:)`.
public final class VirtualClock: RunLoopClock {
  private struct State {
    var now: Int64
    var observers: [ObjectIdentifier: WeakObserver] = [:]
  }
  private struct WeakObserver {
    weak var observer: (any ClockJumpObserver)?
  }

  private let state: Locked<State>
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
  public var now: Int64 { state.withLock { $0.now } }

  public func date(at instant: Int64) -> Date { start.addingTimeInterval(Instants.seconds(instant)) }

  public func instant(at date: Date) -> Int64 { Instants.nanoseconds(date.timeIntervalSince(start)) }

  public func wait(until deadline: Int64) -> ClockWait {
    state.withLock { state in
      if deadline <= state.now { return .elapsed }
      guard advancesWhenIdle, deadline != .max else { return .untilJump }
      state.now = deadline
      return .elapsed
    }
  }

  public func addJumpObserver(_ observer: any ClockJumpObserver) {
    state.withLock { $0.observers[ObjectIdentifier(observer)] = WeakObserver(observer: observer) }
  }

  public func removeJumpObserver(_ observer: any ClockJumpObserver) {
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
    let observers = state.withLock { state in
      state.now = change(state.now)
      return state.observers.values.compactMap(\.observer)
    }
    for observer in observers { observer.clockDidJump() }
  }
}
