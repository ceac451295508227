#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

/// The time that a run loop lives by.
///
/// `MonotonicClock` is the default, `WallClock` follows the time of day, `BootClock` counts the time of a suspended machine,
/// and `VirtualClock` belongs to a test. Instants are nanoseconds since a zero of the clock's own choice; `Int64.max` is
/// the instant that never comes. All requirements must be safe to call from any thread, and must not call a loop: it may
/// hold its lock while it asks.
public protocol RunLoopClock: AnyObject, Sendable {
  /// The present instant.
  var now: Int64 { get }

  /// The date of an instant; `Date.distantFuture` for `Int64.max`.
  func date(at instant: Int64) -> Date

  /// The instant of a date: `Int64.max` for one that is too far away to be counted, and not before `Int64.longAgo`.
  func instant(at date: Date) -> Int64

  /// The clock of the kernel that counts the same nanoseconds from the same zero; nil if there is none.
  ///
  /// A loop that is driven from outside arms its descriptor by it. For a clock without one it asks ``wait(until:)``.
  var kernelClock: KernelClock? { get }

  /// Asked by a loop that has nothing to do until `deadline` (`Int64.max`: no deadline): how it shall wait.
  func wait(until deadline: Int64) -> ClockWait

  /// How many nanoseconds must lie between two wake-ups for timers, if the loop wants `preferred`.
  ///
  /// The gap saves processor time where time passes by itself. A clock that is moved by hand has none.
  func gap(_ preferred: Int64) -> Int64

  /// A loop that lives by this clock begins, or ends, to want to know when the clock jumps.
  func addJumpObserver(_ observer: any ClockJumpObserver)

  /// Undoes `addJumpObserver(_:)`.
  func removeJumpObserver(_ observer: any ClockJumpObserver)

  /// Whether the system may set this clock, so that the kernel must wake a sleeping loop.
  var canBeSet: Bool { get }
}

extension RunLoopClock {
  /// Most clocks are none of the kernel's.
  public var kernelClock: KernelClock? { nil }

  /// The gap that was asked for, or none if the kernel does not know the clock.
  public func gap(_ preferred: Int64) -> Int64 { kernelClock == nil ? 0 : preferred }

  /// Most clocks never jump.
  public func addJumpObserver(_ observer: any ClockJumpObserver) {}

  /// Most clocks never jump.
  public func removeJumpObserver(_ observer: any ClockJumpObserver) {}

  /// Only the time of day can be set.
  public var canBeSet: Bool { kernelClock == .realtime }
}

/// A clock of Linux that a descriptor can be armed by.
public enum KernelClock: Sendable, Hashable, CaseIterable {
  /// `CLOCK_MONOTONIC`.
  case monotonic
  /// `CLOCK_REALTIME`.
  case realtime
  /// `CLOCK_BOOTTIME`.
  case boottime
}

/// How a loop waits for its clock.
public enum ClockWait: Sendable, Hashable {
  /// Sleep for at most this many nanoseconds of real time.
  case sleep(nanoseconds: Int64)
  /// Sleep until the clock's ``RunLoopClock/kernelClock`` has reached the deadline, however long the machine is suspended
  /// meanwhile.
  case alarm
  /// The clock has moved itself to the deadline: go on at once.
  case elapsed
  /// Sleep until woken: the clock calls `clockDidJump()` when it moves.
  case untilJump
}

extension ClockWait {
  static func sleep(from now: Int64, until deadline: Int64) -> ClockWait {
    .sleep(nanoseconds: deadline == .max ? -1 : max(0, Instants.subtract(deadline, now)))
  }
}

/// Told when a clock moves other than by the passing of time.
public protocol ClockJumpObserver: AnyObject, Sendable {
  /// Called from any thread after the clock has moved.
  func clockDidJump()
}
#endif
