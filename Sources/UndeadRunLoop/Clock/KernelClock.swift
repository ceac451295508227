#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

/// A clock of Linux that a descriptor can be armed by.
enum KernelClock {
  /// `CLOCK_MONOTONIC`.
  case monotonic
  /// `CLOCK_REALTIME`, which the system may set, so that the kernel must wake a sleeping loop.
  case realtime
  /// `CLOCK_BOOTTIME`.
  case boottime
}
#endif
