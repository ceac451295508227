#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Glibc

/// Waiting for a thread that has something for itself for a moment. It may be one of a lower priority, that gets no processor
/// while others spin: so after a few attempts these sleep.
struct BackOff {
  private var attempts = 0

  mutating func wait() {
    let yields = 16
    attempts += 1
    if attempts <= yields {
      sched_yield()
    } else {
      var moment = timespec(tv_sec: 0, tv_nsec: 50_000)
      nanosleep(&moment, nil)
    }
  }
}
#endif
