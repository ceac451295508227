#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

/// How a loop waits for its clock.
enum ClockWait: Hashable {
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
#endif
