import CUndeadRunLoop

// What is wrong with loops, and with what runs on them.
extension Diagnostics {
  /// Runs a callback of a timer under the eyes of the watchdog.
  @inline(__always)
  static func watching(_ loop: TrackedRunLoop, _ timer: TrackedTimer, _ body: () -> Void) {
    if isOn { watched(loop, .init(timer), body) } else { body() }
  }

  /// Runs another callback under the eyes of the watchdog.
  @inline(__always)
  static func watching(_ loop: TrackedRunLoop, _ callback: Watchdog.Callback, _ body: () -> Void) {
    if isOn { watched(loop, callback, body) } else { body() }
  }

  @inline(never)
  private static func watched(_ loop: TrackedRunLoop, _ callback: Watchdog.Callback, _ body: () -> Void) {
    let begin = loop.clock.now
    let threadID = loop.core.withLock { loop.core.state.pointee.threadID }
    let outer = Watchdog.shared.begin(loop, callback, thread: threadID)
    body()
    let spent = Instants.subtract(loop.clock.now, begin)
    loop.core.withLock {
      let statistics = loop.core.state.pointee.statistics
      if spent > statistics.slowest?.nanoseconds ?? shortest {
        loop.core.state.pointee.statistics.slowest = (callback.description, spent)
      }
      if spent > statistics.slowestOfLastPass?.nanoseconds ?? shortest {
        loop.core.state.pointee.statistics.slowestOfLastPass = (callback.description, spent)
      }
    }
    Watchdog.shared.end(loop, outer)
  }

  /// Callbacks that take less, in nanoseconds, make nobody late.
  private static let shortest: Int64 = 100_000

  /// Before a pass over the timers: the culprits of late fires are from now on those of this pass or the one before.
  static func willFire(_ loop: TrackedRunLoop, mode: Int32, now: Int64) {
    Starvation.look(at: loop, mode: mode, now: now)
    loop.core.withLock {
      let state = loop.core.state
      state.pointee.statistics.slowest = state.pointee.statistics.slowestOfLastPass
      state.pointee.statistics.slowestOfLastPass = nil
    }
  }

  static func loopEnded(_ loop: TrackedRunLoop, timers: [TrackedTimer]) {
    guard !timers.isEmpty else { return }
    let names = timers.prefix(8).map(\.reportName).joined(separator: ", ")
    report(
      .timersDetached, "\(loop) ended with \(timers.count) timer(s) that will never fire: \(names)", loop: loop.name,
      details: ["timers": "\(timers.count)"])
  }

  static func check(atOnce: Bool) {
    guard isOn else { return }
    reportForgottenTimers(atOnce: atOnce)
    for loop in LoopRegistry.shared.known {
      loop.checkOwner()
      Starvation.look(at: loop)
    }
  }
}
