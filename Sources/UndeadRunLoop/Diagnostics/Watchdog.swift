#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc

/// A thread that notices callbacks that block their loop, while they do.
///
/// It exists while the program wants diagnostics; under the instrument alone, only while callbacks are being called: a
/// thread too many would keep a process alive whose main thread has ended.
final class Watchdog: Sendable {
  /// What a loop calls: a timer, which is alive as long as it is being called, or something of one of a few kinds.
  struct Callback: Sendable, CustomStringConvertible {
    private static let kinds = ["block", "task", "source", "observer", "main queue"]
    static let block = Callback(bits: 0)
    static let task = Callback(bits: 1)
    static let source = Callback(bits: 2)
    static let observer = Callback(bits: 3)
    static let mainQueue = Callback(bits: 4)

    /// An index of `kinds`, or a hidden reference.
    private let bits: UInt

    private init(bits: UInt) { self.bits = bits }

    init(_ timer: TrackedTimer) { bits = HiddenReference(timer).complement }

    var description: String {
      if bits < Self.kinds.count { return Self.kinds[Int(bits)] }
      return HiddenReference<TrackedTimer>(complement: bits).unmanaged._withUnsafeGuaranteedRef { $0.reportName }
    }
  }

  /// What a loop is doing. It has no unused bytes: what is left in them looks like references to a scan of memory.
  struct Activity: Sendable {
    var callback: Callback
    var since: Int64
    var thread: Int64
    var reports = 0
  }

  private struct Finding {
    var loop: String
    var culprit: String
    var since: Int64
    var thread: Int32
  }

  private struct State {
    var active: [HiddenReference<TrackedRunLoop>: Activity] = [:]
    var isRunning = false
    var lastBegin: Int64 = 0
  }

  static let shared = Watchdog()

  // The references are only followed under the lock, while the loop is calling, which keeps it alive.
  private let state = Locked(State())
  /// How long the thread stays without anything to watch: starting one costs more than a few sleeps.
  private static let linger: Int64 = 2_000_000_000

  func begin(_ loop: TrackedRunLoop, _ callback: Callback, thread: Int32) -> Activity? {
    if !Instrument.isWatching { undead_loop_allow_backtrace() }
    let activity = Activity(callback: callback, since: undead_loop_monotonic(), thread: Int64(thread))
    let (outer, mustStart) = state.withLock { state in
      state.lastBegin = activity.since
      let outer = state.active.updateValue(activity, forKey: HiddenReference(loop))
      defer { state.isRunning = true }
      return (outer, !state.isRunning)
    }
    if mustStart { startThread() }
    return outer
  }

  /// The callback is over; the one around it, if any, goes on, and was not blocking meanwhile.
  func end(_ loop: TrackedRunLoop, _ outer: Activity?) {
    state.withLock { state in
      guard var outer else {
        state.active.removeValue(forKey: HiddenReference(loop))
        return
      }
      outer.since = undead_loop_monotonic()
      state.active[HiddenReference(loop)] = outer
    }
  }

  /// Watches from now on, also before the first callback.
  func start() {
    let mustStart = state.withLock { state in
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart { startThread() }
  }

  private func startThread() {
    // Signals that are sent to the process are for the program's own threads. What Dispatch leaves to its threads stays:
    // the instrument may have to stop this one with a signal.
    var blocked = sigset_t()
    var before = sigset_t()
    sigfillset(&blocked)
    for signal in [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPIPE, SIGPROF] { sigdelset(&blocked, signal) }
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { @Sendable _ in
        Watchdog.shared.watch()
        return nil
      }, nil)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    if error == 0 { pthread_detach(thread) } else { state.withLock { $0.isRunning = false } }
  }

  private func watch() {
    undead_loop_set_thread_name("undead-watchdog")
    var lastCheck = undead_loop_monotonic()
    while goesOn() {
      let limit = Diagnostics.limits.loopBlocked.load(ordering: .relaxed)
      var pause = timespec(tv_sec: 0, tv_nsec: Int(min(max(limit / 4, 1_000_000), 50_000_000)))
      nanosleep(&pause, nil)
      for finding in blocked(limit) { report(finding) }
      if undead_loop_monotonic() - lastCheck > Self.linger {
        lastCheck = undead_loop_monotonic()
        Diagnostics.check(atOnce: false)
      }
    }
  }

  private func goesOn() -> Bool {
    let isWanted = Diagnostics.isWanted
    let isOn = Diagnostics.isOn
    return state.withLock { state in
      let isBusy = !state.active.isEmpty || undead_loop_monotonic() - state.lastBegin < Self.linger
      state.isRunning = isWanted || (isOn && isBusy)
      return state.isRunning
    }
  }

  private func blocked(_ limit: Int64) -> [Finding] {
    let now = undead_loop_monotonic()
    return state.withLock { state in
      state.active.compactMap { loop, activity in
        guard activity.reports == 0, now - activity.since > limit else { return nil }
        state.active[loop]?.reports = 1
        return Finding(
          loop: loop.unmanaged._withUnsafeGuaranteedRef { $0.name }, culprit: activity.callback.description,
          since: activity.since, thread: Int32(activity.thread))
      }
    }
  }

  private func report(_ finding: Finding) {
    let frames = Self.backtrace(of: finding.thread)
    let spent = undead_loop_monotonic() - finding.since
    Diagnostics.report(
      .loopBlocked,
      "run loop \"\(finding.loop)\" has been blocked for \(Diagnostics.milliseconds(spent)) by \(finding.culprit)",
      loop: finding.loop, details: ["culprit": finding.culprit, "seconds": "\(Instants.seconds(spent))"],
      backtraces: frames.isEmpty ? [] : [.init(role: "culprit", addresses: frames)], weight: spent)
  }

  private static func backtrace(of thread: Int32) -> [UInt] {
    // Better than a signal, which ends a sleep of that thread early.
    let traced = Instrument.backtrace(of: thread)
    if !traced.isEmpty { return traced }
    let depth = 64
    let answerWithin: Int64 = 1_000_000_000
    return [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(undead_loop_backtrace_of(thread, buffer.baseAddress, Int32(depth), answerWithin))
    }
  }
}
#endif
