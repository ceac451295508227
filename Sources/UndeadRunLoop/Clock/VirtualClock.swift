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
    /// The tasks that sleep by this clock, the first to wake first.
    var sleepers: [Sleeper] = []
  }
  fileprivate struct WeakObserver {
    weak var observer: TrackedRunLoop?
  }
  fileprivate struct Sleeper {
    var deadline: Int64
    var sleep: TaskSleep
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
    var woken: [TaskSleep] = []
    let wait = state.withLock { state -> ClockWait in
      if deadline <= state.now { return .elapsed }
      let next = min(deadline, state.sleepers.first?.deadline ?? .max)
      guard advancesWhenIdle, next != .max else { return .untilJump }
      state.now = max(state.now, next)
      woken = state.takeDue()
      return .elapsed
    }
    for sleep in woken { sleep.finish() }
    return wait
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

  /// The first instant for which a task sleeps by this clock; nil if none does.
  package var nextSleeper: Int64? { state.withLock { $0.sleepers.first?.deadline } }

  /// Lets a task sleep until an instant, which may have passed.
  func add(_ sleep: TaskSleep, until deadline: Int64) {
    let mustWake = state.withLock { state -> Bool in
      if deadline <= state.now { return false }
      let place = state.sleepers.firstIndex { $0.deadline > deadline } ?? state.sleepers.endIndex
      state.sleepers.insert(Sleeper(deadline: deadline, sleep: sleep), at: place)
      return true
    }
    if mustWake {
      // An idle loop may move the clock, if something is due.
      if advancesWhenIdle { tell() }
    } else {
      sleep.finish()
    }
  }

  func remove(_ sleep: TaskSleep) { state.withLock { $0.sleepers.removeAll { $0.sleep === sleep } } }

  private func move(_ change: (Int64) -> Int64) {
    let woken = state.withLock { state in
      // A moment that never comes is not now: a run that is to end now would never end.
      state.now = min(change(state.now), Instants.never - 1)
      return state.takeDue()
    }
    for sleep in woken { sleep.finish() }
    tell()
  }

  private func tell() {
    let observers = state.withLock { $0.observers.values.compactMap(\.observer) }
    for observer in observers { observer.clockDidJump() }
  }
}

extension VirtualClock.State {
  fileprivate mutating func takeDue() -> [TaskSleep] {
    let count = sleepers.prefix { $0.deadline <= now }.count
    defer { sleepers.removeFirst(count) }
    return sleepers.prefix(count).map(\.sleep)
  }
}
#endif
