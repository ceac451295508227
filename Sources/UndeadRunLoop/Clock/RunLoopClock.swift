#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

/// The time that a run loop lives by: ``monotonic`` unless it is given another one.
///
/// Instants are nanoseconds since a zero of the clock's own choice; `Int64.max` is the instant that never comes. All members are
/// safe to call from any thread, and never call a loop: it may hold its lock while it asks.
public class RunLoopClock: @unchecked Sendable {
  /// `CLOCK_MONOTONIC`: never set, never goes backwards, does not count the time of a suspended machine.
  public static let monotonic: RunLoopClock = SystemClock(.monotonic)

  /// `CLOCK_BOOTTIME`: as the monotonic clock, but it counts the time in which the machine is suspended.
  ///
  /// What became due during a suspension fires when the machine goes on: the right clock for leases, tokens and whatever
  /// grows old while nobody is at work.
  public static let boot: RunLoopClock = SystemClock(.boottime)

  /// `CLOCK_REALTIME`: the time of day, which the administrator or NTP may set.
  ///
  /// When it is set forward, what became due fires at once and missed ticks are skipped. When it is set back, one-shot
  /// timers keep their date, and repeating timers go on with their next tick at most one interval away.
  public static let wall: RunLoopClock = SystemClock(.realtime)

  init() {}

  package var now: Int64 { fatalError("RunLoopClock is abstract") }

  /// The date of an instant; `Date.distantFuture` for `Int64.max`.
  package func date(at instant: Int64) -> Date { fatalError("RunLoopClock is abstract") }

  /// The instant of a date: `Int64.max` for one that is too far away to be counted, and not before `Int64.longAgo`.
  package func instant(at date: Date) -> Int64 { fatalError("RunLoopClock is abstract") }

  /// Asked by a loop that has nothing to do until `deadline` (`Int64.max`: no deadline): how it shall wait.
  func wait(until deadline: Int64) -> ClockWait { fatalError("RunLoopClock is abstract") }

  /// The clock of the kernel that counts the same nanoseconds from the same zero; nil if there is none.
  ///
  /// A loop that is driven from outside arms its descriptor by it. For a clock without one it asks ``wait(until:)``.
  var kernelClock: KernelClock? { nil }

  /// How many nanoseconds must lie between two wake-ups for timers, if the loop wants `preferred`.
  ///
  /// The gap saves processor time where time passes by itself. A clock that is moved by hand has none.
  func gap(_ preferred: Int64) -> Int64 { kernelClock == nil ? 0 : preferred }

  /// A loop that lives by this clock begins to want to know when the clock jumps. Most clocks never do.
  func addJumpObserver(_ observer: TrackedRunLoop) {}

  func removeJumpObserver(_ observer: TrackedRunLoop) {}
}

#endif
