#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import FoundationEssentials
import Synchronization

/// `CLOCK_MONOTONIC`: never set, never goes backwards, does not count the time of a suspended machine.
public final class MonotonicClock: RunLoopClock {
  /// The clock of every loop that was not given another.
  public static let shared = MonotonicClock()

  private let dates = DateOffset(.monotonic)

  private init() {}

  public var now: Int64 { undead_loop_monotonic() }

  public func date(at instant: Int64) -> Date { dates.date(at: instant) }

  public func instant(at date: Date) -> Int64 { dates.instant(at: date) }

  public var kernelClock: KernelClock? { .monotonic }

  public func wait(until deadline: Int64) -> ClockWait { .sleep(from: now, until: deadline) }
}

/// `CLOCK_BOOTTIME`: as the monotonic clock, but it counts the time in which the machine is suspended.
///
/// What became due during a suspension fires when the machine goes on: the right clock for leases, tokens and whatever
/// grows old while nobody is at work.
public final class BootClock: RunLoopClock {
  /// The time since the machine was started.
  public static let shared = BootClock()

  private let dates = DateOffset(.boottime)

  private init() {}

  public var now: Int64 { undead_loop_boottime() }

  public func date(at instant: Int64) -> Date { dates.date(at: instant) }

  public func instant(at date: Date) -> Int64 { dates.instant(at: date) }

  public var kernelClock: KernelClock? { .boottime }

  /// The poll's own timeout stands still while the machine is suspended.
  public func wait(until deadline: Int64) -> ClockWait { .alarm }
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

  public func date(at instant: Int64) -> Date { Instants.date(instant, after: .unixEpoch) }

  public func instant(at date: Date) -> Int64 { Instants.nanoseconds(from: .unixEpoch, to: date) }

  public var kernelClock: KernelClock? { .realtime }

  public func wait(until deadline: Int64) -> ClockWait { .sleep(from: now, until: deadline) }
}

/// How far a clock that cannot be set lies behind the time of day.
///
/// Two clocks cannot be read at once, and a thread may be interrupted in between. So the difference is kept as long as new
/// readings do not contradict it: an instant that becomes a date and an instant again comes out as it went in.
private struct DateOffset: ~Copyable {
  private let clock: KernelClock
  /// Nanoseconds from an instant to the same moment since 1970; `unknown` before the first reading.
  private let known = Atomic(unknown)

  private static let unknown = Int64.min
  /// What readings may differ by although nobody set the clock: the kernel's own rounding.
  private static let noise: Int64 = 1000

  init(_ clock: KernelClock) { self.clock = clock }

  func date(at instant: Int64) -> Date {
    // Not before the clock's zero has a date: a moment long ago is long ago by any clock.
    Instants.date(Instants.shift(instant, by: offset), after: .unixEpoch)
  }

  func instant(at date: Date) -> Int64 {
    Instants.shift(Instants.nanoseconds(from: .unixEpoch, to: date), by: -offset)
  }

  private var offset: Int64 {
    let before = clock.now
    let realtime = undead_loop_realtime()
    let doubt = clock.now - before
    let fresh = realtime - before - doubt / 2
    let known = known.load(ordering: .relaxed)
    if known != Self.unknown, abs(fresh - known) <= doubt + Self.noise { return known }
    self.known.store(fresh, ordering: .relaxed)
    return fresh
  }
}

extension KernelClock {
  /// The present instant.
  var now: Int64 {
    switch self {
    case .monotonic: undead_loop_monotonic()
    case .realtime: undead_loop_realtime()
    case .boottime: undead_loop_boottime()
    }
  }
}

extension Date {
  fileprivate static let unixEpoch = Date(timeIntervalSinceReferenceDate: -Date.timeIntervalBetween1970AndReferenceDate)
}
#endif
