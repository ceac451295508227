import CUndeadRunLoop
import FoundationEssentials

/// The time that a run loop lives by.
///
/// `MonotonicClock` is the default, `WallClock` follows the time of day, and `VirtualClock` belongs to a test.
/// Instants are nanoseconds since a zero of the clock's own choice. All requirements must be safe to call from any thread.
public protocol RunLoopClock: AnyObject, Sendable {
  /// The present instant.
  var now: Int64 { get }

  /// The date of an instant.
  func date(at instant: Int64) -> Date

  /// The instant of a date, within `Int64`'s range.
  func instant(at date: Date) -> Int64

  /// Asked by a loop that has nothing to do until `deadline` (`Int64.max`: no deadline): how it shall wait.
  func wait(until deadline: Int64) -> ClockWait

  /// A loop that lives by this clock begins, or ends, to want to know when the clock jumps.
  func addJumpObserver(_ observer: any ClockJumpObserver)

  /// Undoes `addJumpObserver(_:)`.
  func removeJumpObserver(_ observer: any ClockJumpObserver)

  /// Whether the system may set this clock, so that a sleeping loop has to be told by the kernel.
  var canBeSet: Bool { get }
}

extension RunLoopClock {
  /// Most clocks never jump.
  public func addJumpObserver(_ observer: any ClockJumpObserver) {}

  /// Most clocks never jump.
  public func removeJumpObserver(_ observer: any ClockJumpObserver) {}

  /// Most clocks cannot be set.
  public var canBeSet: Bool { false }
}

/// How a loop waits for its clock.
public enum ClockWait: Sendable, Hashable {
  /// Sleep for at most this many nanoseconds of real time.
  case sleep(nanoseconds: Int64)
  /// The clock has moved itself to the deadline: go on at once.
  case elapsed
  /// Sleep until woken: the clock calls `clockDidJump()` when it moves.
  case untilJump
}

/// Told when a clock moves other than by the passing of time.
public protocol ClockJumpObserver: AnyObject, Sendable {
  /// Called from any thread after the clock has moved.
  func clockDidJump()
}

/// `CLOCK_MONOTONIC`: never set, never goes backwards, does not count the time of a suspended machine.
public final class MonotonicClock: RunLoopClock {
  /// The clock of every loop that was not given another.
  public static let shared = MonotonicClock()

  private init() {}

  public var now: Int64 { undead_loop_monotonic() }

  public func date(at instant: Int64) -> Date {
    Date(timeIntervalSince1970: Double(undead_loop_realtime() + (instant.clamped - undead_loop_monotonic())) / 1e9)
  }

  public func instant(at date: Date) -> Int64 {
    Instants.add(undead_loop_monotonic(), Instants.nanoseconds(date.timeIntervalSince1970) - undead_loop_realtime())
  }

  public func wait(until deadline: Int64) -> ClockWait { ClockWait.sleep(from: now, until: deadline) }
}

/// `CLOCK_REALTIME`: the time of day, which the administrator or NTP may set.
///
/// When it is set forward, what became due fires at once and missed ticks are skipped. When it is set back, one-shot
/// timers keep their date, and repeating timers go on with their next tick at most one interval away.
public final class WallClock: RunLoopClock {
  /// The time of day.
  public static let shared = WallClock()

  private init() {}

  public var now: Int64 { undead_loop_realtime() }

  public func date(at instant: Int64) -> Date { Date(timeIntervalSince1970: Double(instant) / 1e9) }

  public func instant(at date: Date) -> Int64 { Instants.nanoseconds(date.timeIntervalSince1970) }

  public func wait(until deadline: Int64) -> ClockWait { ClockWait.sleep(from: now, until: deadline) }

  public var canBeSet: Bool { true }
}

extension ClockWait {
  static func sleep(from now: Int64, until deadline: Int64) -> ClockWait {
    .sleep(nanoseconds: deadline == .max ? -1 : max(0, Instants.subtract(deadline, now)))
  }
}

extension Int64 {
  /// Keeps differences and sums of two such instants representable.
  fileprivate var clamped: Int64 { Swift.min(Swift.max(self, .min / 4), .max / 4) }
}

/// Arithmetic on instants that saturates: a date a million years away is a date that never comes.
enum Instants {
  static let nanosecondsPerSecond = 1e9

  @inline(__always)
  static func add(_ instant: Int64, _ nanoseconds: Int64) -> Int64 {
    let (sum, overflow) = instant.addingReportingOverflow(nanoseconds)
    return overflow ? (nanoseconds > 0 ? .max : .min) : sum
  }

  @inline(__always)
  static func subtract(_ instant: Int64, _ nanoseconds: Int64) -> Int64 {
    let (difference, overflow) = instant.subtractingReportingOverflow(nanoseconds)
    return overflow ? (nanoseconds < 0 ? .max : .min) : difference
  }

  /// Seconds as nanoseconds, saturating; not a number counts as the distant past.
  static func nanoseconds(_ seconds: Double) -> Int64 {
    if seconds.isNaN { return .min / 4 }
    let nanoseconds = seconds * nanosecondsPerSecond
    if nanoseconds >= Double(Int64.max / 4) { return .max / 4 }
    if nanoseconds <= Double(Int64.min / 4) { return .min / 4 }
    return Int64(nanoseconds.rounded())
  }

  /// A duration as nanoseconds, saturating.
  static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return seconds > 0 ? .max / 4 : .min / 4 }
    return min(max(add(scaled, attoseconds / 1_000_000_000), .min / 4), .max / 4)
  }

  /// Seconds of an interval that a timer may have.
  static func interval(_ seconds: Double) throws(RunLoopError) -> Int64 {
    guard seconds >= 0, seconds * nanosecondsPerSecond + 0.5 < Double(Int64.max) else {
      throw .invalidInterval(seconds)
    }
    // Not negative, so this rounds; `rounded()` would be a call into libm.
    return Int64(seconds * nanosecondsPerSecond + 0.5)
  }

  /// An interval that a timer may have.
  static func interval(_ duration: Duration) throws(RunLoopError) -> Int64 {
    let nanoseconds = nanoseconds(duration)
    guard nanoseconds >= 0, nanoseconds < .max / 4 else {
      let (seconds, attoseconds) = duration.components
      throw .invalidInterval(Double(seconds) + Double(attoseconds) / 1e18)
    }
    return nanoseconds
  }

  static func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / nanosecondsPerSecond }
}
