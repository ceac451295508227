#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
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
    if loop.wasIgnoredByItsThread { return IdleLoops.ended(loop, timers: timers) }
    let names = timers.prefix(8).map(\.reportName).joined(separator: ", ")
    report(
      .timersDetached, "\(loop) ended with \(timers.count) timer(s) that will never fire: \(names)", loop: loop.name,
      details: ["timers": "\(timers.count)"])
  }

  /// - Parameters:
  ///   - late: nanoseconds between the two frames that were served.
  ///   - own: nanoseconds that the link's own target took.
  static func framesDropped(by link: TrackedDisplayLink, _ dropped: Int, late: Int64, own: Int64) {
    guard let loop = link.home else { return }
    let statistics = loop.withLock { loop.core.state.pointee.statistics }
    let others = [statistics?.slowest, statistics?.slowestOfLastPass].compactMap(\.self)
    let name = link.name.isEmpty ? "a display link" : "display link \"\(link.name)\""
    let culprits = others + [(description: "its own target", nanoseconds: own)]
    // A busy machine, a stopped process: nothing that the program could fix.
    let worthNaming: Int64 = 10
    guard let culprit = culprits.max(by: { $0.nanoseconds < $1.nanoseconds }), culprit.nanoseconds > late / worthNaming
    else { return }
    var details = [
      "frames": "\(dropped)", "culprit": culprit.description,
      "culpritSeconds": "\(Instants.seconds(culprit.nanoseconds))",
    ]
    if !link.name.isEmpty { details["displayLink"] = link.name }
    report(
      .framesDropped,
      "\(name) dropped \(dropped) \(dropped == 1 ? "frame" : "frames"): \(culprit.description) ran for "
        + milliseconds(culprit.nanoseconds), loop: loop.identity.name, details: details, weight: Int64(dropped))
  }

  static func check(atOnce: Bool) {
    guard isOn else { return }
    reportForgottenTimers(atOnce: atOnce)
    for loop in LoopRegistry.shared.known {
      loop.checkOwner()
      Starvation.look(at: loop)
      IdleLoops.look(at: loop)
    }
  }
}

extension KnownLoop {
  /// Reports a loop that runs although its owner is gone.
  fileprivate func checkOwner() {
    let seen = withLock {
      (isRunning: !core.state.pointee.activations.isEmpty, timers: core.state.pointee.timers.count)
    }
    guard let seen, seen.isRunning, let orphaned = identity.takeOrphaned() else { return }
    let name = identity.name
    Diagnostics.report(
      .loopOutlivesOwner,
      "run loop \"\(name)\" still runs, with \(seen.timers) timer(s), although its owner, \(orphaned), is gone",
      loop: name, details: ["owner": orphaned, "timers": "\(seen.timers)"])
  }
}

extension TrackedRunLoop {
  /// Whether its thread ended without running it. Nobody else may run the loop of a thread.
  fileprivate var wasIgnoredByItsThread: Bool {
    kind == .thread
      && core.withLock {
        core.state.pointee.statistics.passes == 0 && !core.state.pointee.activations.isStoppedForGood
      }
  }
}
#endif
