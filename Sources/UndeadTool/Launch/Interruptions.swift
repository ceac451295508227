import UndeadSystem

/// Signals that would end the tool, held while something is to be taken back or reported.
enum Interruptions {
  private static var signals: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, signal) }
    return set
  }

  /// From now on they wait to be asked for.
  static func hold() {
    var set = signals
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits until a time (see `SystemClock.now()`), until a process ends, or until one has come, and is held.
  ///
  /// - Parameter look: called ten times a second.
  static func wait(until end: UInt64, while isRunning: @autoclosure () -> Bool, look: () -> Void) -> WatchEnd {
    while isRunning() {
      look()
      let now = SystemClock.now()
      var set = signals
      var pause = timespec(tv_sec: 0, tv_nsec: Int(min(100_000_000, max(end, now) - now)))
      if sigtimedwait(&set, nil, &pause) > 0 { return .interrupted }
      if SystemClock.now() >= end { return .time }
    }
    return .programEnded
  }
}
