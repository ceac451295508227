#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  import Glibc

  /// The kernel's clocks, in nanoseconds.
  package enum SystemClock {
    /// Only goes forward, and not while the machine sleeps.
    package static func now() -> UInt64 { read(CLOCK_MONOTONIC) }

    /// Since the machine was started.
    package static func sinceBoot() -> UInt64 { read(CLOCK_BOOTTIME) }

    /// Since 1970.
    package static func wallClock() -> UInt64 { read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> UInt64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
  }
#endif
