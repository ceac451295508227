import CUndeadRunLoop
import Glibc

/// A thread that notices callbacks that block their loop, while they do.
///
/// It exists while the program wants diagnostics; under the instrument alone, only while callbacks are being called: a
/// thread too many would keep a process alive whose main thread has ended.
final class Watchdog: Sendable {
  /// What a loop calls. A timer is alive as long as it is being called.
  enum Callback: CustomStringConvertible {
    case timer(Unmanaged<TrackedTimer>)
    case other(StaticString)

    var description: String {
      switch self {
      case .timer(let timer): timer._withUnsafeGuaranteedRef { $0.reportName }
      case .other(let what): what.description
      }
    }
  }

  /// What a loop is doing.
  struct Activity {
    var callback: Callback
    var since: Int64
    var thread: Int32
    var isReported = false
  }

  private struct Finding {
    var loop: String
    var culprit: String
    var since: Int64
    var thread: Int32
  }

  private struct State {
    var active: [ObjectIdentifier: (loop: Unmanaged<TrackedRunLoop>, activity: Activity)] = [:]
    var isRunning = false
    var lastBegin: Int64 = 0
  }

  static let shared = Watchdog()

  // The references are only followed under the lock, while the loop is calling, which keeps it alive.
  private struct Guarded: @unchecked Sendable { var state = State() }
  private let guarded = Locked(Guarded())
  /// How long the thread stays without anything to watch: starting one costs more than a few sleeps.
  private static let linger: Int64 = 2_000_000_000

  func begin(_ loop: TrackedRunLoop, _ callback: Callback, thread: Int32) -> Activity? {
    if !Instrument.isWatching { undead_loop_allow_backtrace() }
    let activity = Activity(callback: callback, since: undead_loop_monotonic(), thread: thread)
    let (outer, mustStart) = guarded.withLock { guarded in
      guarded.state.lastBegin = activity.since
      let outer = guarded.state.active.updateValue(
        (Unmanaged.passUnretained(loop), activity), forKey: ObjectIdentifier(loop))
      defer { guarded.state.isRunning = true }
      return (outer?.activity, !guarded.state.isRunning)
    }
    if mustStart { startThread() }
    return outer
  }

  /// The callback is over; the one around it, if any, goes on, and was not blocking meanwhile.
  func end(_ loop: TrackedRunLoop, _ outer: Activity?) {
    guarded.withLock { guarded in
      guard var outer else {
        guarded.state.active.removeValue(forKey: ObjectIdentifier(loop))
        return
      }
      outer.since = undead_loop_monotonic()
      guarded.state.active[ObjectIdentifier(loop)] = (Unmanaged.passUnretained(loop), outer)
    }
  }

  /// Watches from now on, also before the first callback.
  func start() {
    let mustStart = guarded.withLock { guarded in
      defer { guarded.state.isRunning = true }
      return !guarded.state.isRunning
    }
    if mustStart { startThread() }
  }

  private func startThread() {
    // Signals that are sent to the process are for the program's own threads.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { @Sendable _ in
        Watchdog.shared.watch()
        return nil
      }, nil)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    if error == 0 { pthread_detach(thread) } else { guarded.withLock { $0.state.isRunning = false } }
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
    return guarded.withLock { guarded in
      let isBusy = !guarded.state.active.isEmpty || undead_loop_monotonic() - guarded.state.lastBegin < Self.linger
      guarded.state.isRunning = isWanted || (isOn && isBusy)
      return guarded.state.isRunning
    }
  }

  private func blocked(_ limit: Int64) -> [Finding] {
    let now = undead_loop_monotonic()
    return guarded.withLock { guarded in
      guarded.state.active.compactMap { key, entry in
        let activity = entry.activity
        guard !activity.isReported, now - activity.since > limit else { return nil }
        guarded.state.active[key]?.activity.isReported = true
        return Finding(
          loop: entry.loop._withUnsafeGuaranteedRef { $0.name }, culprit: activity.callback.description,
          since: activity.since, thread: activity.thread)
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
    let depth = 64
    let answerWithin: Int64 = 1_000_000_000
    return [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(undead_loop_backtrace_of(thread, buffer.baseAddress, Int32(depth), answerWithin))
    }
  }
}
