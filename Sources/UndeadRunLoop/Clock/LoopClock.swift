#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

/// A `Clock` for tasks, in the time of a run loop or of a ``VirtualClock``.
///
/// Whatever takes an `any Clock<Duration>` runs in virtual time with it: `Task.sleep(until:clock:)`, `clock.sleep(for:)`,
/// and code of your own that has its clock handed in. Cancelling a task ends its sleep at once.
public struct LoopClock: Clock {
  /// A moment of a run loop's clock.
  public struct Instant: InstantProtocol {
    /// The time since the clock's zero.
    let offset: Duration

    init(nanoseconds: Int64) { offset = Instants.duration(nanoseconds) }

    private init(offset: Duration) { self.offset = offset }

    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    public func duration(to other: Instant) -> Duration { other.offset - offset }

    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }

    public static func + (instant: Instant, duration: Duration) -> Instant { instant.advanced(by: duration) }

    /// Never early: a started nanosecond counts.
    var nanoseconds: Int64 { Instants.nanoseconds(roundingUp: offset) }
  }

  private enum Base: Sendable {
    case loop(TrackedRunLoop)
    case virtual(VirtualClock)
  }

  private let base: Base

  /// A clock whose sleepers are woken by timers of a loop, in its common modes, and in its time: they wake while it runs.
  init(_ loop: TrackedRunLoop) { base = .loop(loop) }

  /// A clock whose sleepers are woken when a virtual clock is moved.
  init(_ clock: VirtualClock) { base = .virtual(clock) }

  public var now: Instant {
    switch base {
    case .loop(let loop): Instant(nanoseconds: loop.clock.now)
    case .virtual(let clock): Instant(nanoseconds: clock.now)
    }
  }

  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the calling task until an instant, never for less.
  ///
  /// - Parameters:
  ///   - deadline: one that has passed does not suspend.
  ///   - tolerance: by how much the loop may be late, to wake up less often; none by default.
  /// - Throws: `CancellationError` as soon as the task is cancelled; `RunLoopError.loopFinished` if the loop ends meanwhile.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    switch base {
    case .loop(let loop): try await loop.sleep(until: deadline.nanoseconds, tolerance: tolerance, mode: .common)
    case .virtual(let clock): try await clock.sleep(until: deadline.nanoseconds)
    }
  }
}

extension VirtualClock {
  /// This clock for tasks: what sleeps by it wakes when the clock is moved.
  public var taskClock: LoopClock { LoopClock(self) }

  fileprivate func sleep(until deadline: Int64) async throws {
    try await TaskSleep.suspend { sleep in
      add(sleep, until: deadline)
      return { [self] in remove(sleep) }
    }
  }
}

extension TrackedRunLoop {
  /// The loop's time for tasks: what sleeps by it is woken by timers of the loop.
  public var taskClock: LoopClock { LoopClock(self) }

  /// Suspends the calling task for a time of this loop's clock, on a timer of the loop.
  ///
  /// - Parameters:
  ///   - duration: zero or less does not suspend.
  ///   - tolerance: by how much the loop may be late, to wake up less often.
  ///   - mode: the mode in which the timer fires.
  /// - Throws: `CancellationError` as soon as the task is cancelled; `RunLoopError.loopFinished` if the loop has ended, or
  ///   ends meanwhile.
  public func sleep(for duration: Duration, tolerance: Duration? = nil, mode: Mode = .common) async throws {
    let deadline = Instants.add(clock.now, Instants.nanoseconds(roundingUp: duration))
    try await sleep(until: deadline, tolerance: tolerance, mode: mode)
  }

  /// Suspends the calling task until a date of this loop's clock.
  public func sleep(until date: Date, tolerance: Duration? = nil, mode: Mode = .common) async throws {
    try await sleep(until: clock.instant(at: date), tolerance: tolerance, mode: mode)
  }

  fileprivate func sleep(until deadline: Int64, tolerance: Duration?, mode: Mode) async throws {
    if isFinished { throw RunLoopError.loopFinished(loop: name) }
    if deadline <= clock.now { return try Task.checkCancellation() }
    try await TaskSleep.suspend { sleep in startTimer(for: sleep, deadline, tolerance, mode) }
  }

  /// Wakes a sleeping task at an instant. Returns how to take that back.
  private func startTimer(
    for sleep: TaskSleep, _ deadline: Int64, _ tolerance: Duration?, _ mode: Mode
  ) -> @Sendable () -> Void {
    let timer = TrackedTimer(
      due: deadline, clock: clock, leeway: tolerance.map { max(0, Instants.nanoseconds($0)) } ?? 0
    ) { _ in sleep.finish() }
    timer.makeExtras().ended = { [identity] reason in
      // A task that was cancelled has woken already.
      if reason != .fired { sleep.finish(.failure(RunLoopError.loopFinished(loop: identity.name))) }
    }
    do {
      _ = try start(timer, mode)
    } catch {
      sleep.finish(.failure(error))
    }
    return { [weak timer] in timer?.invalidate() }
  }
}
#endif
