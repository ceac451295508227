#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import FoundationEssentials
import Synchronization

/// A clock of the kernel.
final class SystemClock: RunLoopClock, @unchecked Sendable {
  private let kernel: KernelClock
  private let dates: DateOffset

  init(_ kernel: KernelClock) {
    self.kernel = kernel
    dates = DateOffset(kernel)
  }

  override var now: Int64 { kernel.now }

  override func date(at instant: Int64) -> Date { dates.date(at: instant) }

  override func instant(at date: Date) -> Int64 { dates.instant(at: date) }

  override var kernelClock: KernelClock? { kernel }

  override func wait(until deadline: Int64) -> ClockWait {
    // The poll's own timeout stands still while the machine is suspended.
    kernel == .boottime ? .alarm : .sleep(from: now, until: deadline)
  }
}

/// How far a clock lies behind the time of day.
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
    if clock == .realtime { return 0 }
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
