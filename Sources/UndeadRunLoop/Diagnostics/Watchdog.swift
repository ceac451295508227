import CUndeadRunLoop
import Glibc

/// A thread that notices callbacks that block their loop, while they do. It exists only while diagnostics are on.
final class Watchdog: Sendable {
  /// What a loop is doing.
  struct Activity {
    var name: String
    var since: Int64
    var thread: Int32
    var isReported = false
  }

  private struct State {
    var active: [ObjectIdentifier: (loop: Unmanaged<TrackedRunLoop>, activity: Activity)] = [:]
    var isRunning = false
    var mustStop = false
  }

  static let shared = Watchdog()

  // The references are only followed while the loop is calling, which keeps it alive.
  private struct Guarded: @unchecked Sendable { var state = State() }
  private let guarded = Locked(Guarded())

  func begin(_ loop: TrackedRunLoop, _ name: String, thread: Int32) -> Activity? {
    let activity = Activity(name: name, since: undead_loop_monotonic(), thread: thread)
    return guarded.withLock {
      $0.state.active.updateValue(
        (Unmanaged.passUnretained(loop), activity), forKey: ObjectIdentifier(loop))?.activity
    }
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

  func start() {
    // A thread that was told to stop, and has not yet, goes on.
    let mustStart = guarded.withLock { guarded -> Bool in
      guarded.state.mustStop = false
      defer { guarded.state.isRunning = true }
      return !guarded.state.isRunning
    }
    guard mustStart else { return }
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { @Sendable _ in
        Watchdog.shared.watch()
        return nil
      }, nil)
    if error == 0 { pthread_detach(thread) } else { guarded.withLock { $0.state.isRunning = false } }
  }

  func stop() { guarded.withLock { $0.state.mustStop = true } }

  private func watch() {
    undead_loop_set_thread_name("undead-watchdog")
    var passes = 0
    let passesBetweenChecks = 40
    while !hasStopped() {
      let limit = Instants.nanoseconds(Diagnostics.thresholds.loopBlocked)
      var pause = timespec(tv_sec: 0, tv_nsec: Int(min(max(limit / 4, 1_000_000), 50_000_000)))
      nanosleep(&pause, nil)
      for (loop, activity) in blocked(limit) { report(loop, activity) }
      passes += 1
      if passes % passesBetweenChecks == 0 { Diagnostics.check(atOnce: false) }
    }
  }

  private func hasStopped() -> Bool {
    guarded.withLock { guarded in
      if guarded.state.mustStop { guarded.state.isRunning = false }
      return guarded.state.mustStop
    }
  }

  private func blocked(_ limit: Int64) -> [(TrackedRunLoop, Activity)] {
    let now = undead_loop_monotonic()
    return guarded.withLock { guarded in
      guarded.state.active.compactMap { key, entry in
        guard !entry.activity.isReported, now - entry.activity.since > limit else { return nil }
        guarded.state.active[key]?.activity.isReported = true
        return (entry.loop.takeUnretainedValue(), entry.activity)
      }
    }
  }

  private func report(_ loop: TrackedRunLoop, _ activity: Activity) {
    let depth = 64
    let answerWithin: Int64 = 1_000_000_000
    let frames = [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(undead_loop_backtrace_of(activity.thread, buffer.baseAddress, Int32(depth), answerWithin))
    }
    let spent = undead_loop_monotonic() - activity.since
    Diagnostics.report(
      .loopBlocked, "\(loop) has been blocked for \(Diagnostics.milliseconds(spent)) by \(activity.name)", loop: loop,
      details: ["culprit": activity.name, "seconds": "\(Instants.seconds(spent))"],
      backtraces: frames.isEmpty ? [] : [.init(role: "culprit", addresses: frames)])
  }
}
