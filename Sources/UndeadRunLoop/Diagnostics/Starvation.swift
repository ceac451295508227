#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Notices timers that are due but whose modes the loop does not run.
enum Starvation {
  /// It names timers rather than holding them, which could end them on a thread that is not theirs.
  private struct Finding {
    var timer: String
    var reportName: String
    var modes: [Int32]
    var overdue: Int64
    var missed: Int64

    init(_ timer: TrackedTimer, modes: [Int32], now: Int64) {
      self.timer = timer.name
      reportName = timer.reportName
      self.modes = modes
      overdue = Instants.subtract(now, timer.overdueSince)
      missed = timer.flags.contains(.repeats) ? overdue / timer.period : 0
    }
  }

  /// Looks at a loop from outside: one that sleeps in a mode without timers makes no pass that would notice.
  static func look(at loop: KnownLoop) {
    let now = loop.identity.clock.now
    let seen = loop.withLock { () -> (mode: Int32, findings: [Finding])? in
      guard let mode = loop.core.state.pointee.activations.mode else { return nil }
      return (mode, find(loop.core, running: mode, now: now))
    }
    if let (mode, findings) = seen ?? nil {
      for finding in findings { report(finding, loop.identity.name, running: mode) }
    }
  }

  /// Looks at a loop that is about to fire what is due in `mode`.
  static func look(at loop: TrackedRunLoop, mode: Int32, now: Int64) {
    let findings = loop.core.withLock { find(loop.core, running: mode, now: now) }
    for finding in findings { report(finding, loop.name, running: mode) }
  }

  /// The caller holds the loop's lock.
  private static func find(_ core: LoopCore, running mode: Int32, now: Int64) -> [Finding] {
    let limit = Diagnostics.limits.modeStarved.load(ordering: .relaxed)
    var findings: [Finding] = []
    core.state.pointee.timers.visitStarving(in: mode) { modes, visit in
      let due = overdue(visit, modes: modes, by: limit, now: now)
      findings += due
      return !due.isEmpty
    }
    return findings
  }

  /// The queued timers of a set that have been due for more than `limit`, or a few of them.
  private static func overdue(
    _ visit: TimerQueue.Visit, modes: [Int32], by limit: Int64, now: Int64
  ) -> [Finding] {
    let enoughToTell = 16
    let instant = Instants.subtract(now, limit)
    var found: [Finding] = []
    visit { timer in
      if timer.flags.contains(.queued), timer.overdueSince < instant {
        found.append(Finding(timer, modes: modes, now: now))
      }
      return found.count < enoughToTell
    }
    return found
  }

  private static func report(_ finding: Finding, _ loop: String, running mode: Int32) {
    let modes = finding.modes.map(ModeTable.name).joined(separator: ", ")
    var details = [
      "mode": modes, "runningMode": ModeTable.name(mode), "seconds": "\(Instants.seconds(finding.overdue))",
      "missed": "\(finding.missed)",
    ]
    if !finding.timer.isEmpty { details["timer"] = finding.timer }
    Diagnostics.report(
      .modeStarved,
      "\(finding.reportName) has been due for \(Diagnostics.milliseconds(finding.overdue)) and missed "
        + "\(finding.missed) fires: it is in mode \(modes), and run loop \"\(loop)\" runs in \(ModeTable.name(mode))",
      loop: loop, details: details, weight: finding.overdue)
  }
}
#endif
