/// Notices timers that are due but whose modes the loop does not run.
enum Starvation {
  private struct Finding {
    var timer: TrackedTimer
    var modes: [Int32]
    var overdue: Int64
    var missed: Int64
  }

  /// Looks at a loop from outside: one that sleeps in a mode without timers makes no pass that would notice.
  static func look(at loop: TrackedRunLoop) {
    let mode = loop.core.withLock { loop.core.state.pointee.depth > 0 ? loop.core.state.pointee.runningMode : nil }
    let limit = Diagnostics.limits.modeStarved.load(ordering: .relaxed)
    if let mode { look(at: loop, mode: mode, now: loop.clock.now, limit: limit) }
  }

  static func look(at loop: TrackedRunLoop, mode: Int32, now: Int64, limit: Int64) {
    let core = loop.core
    let findings = core.withLock { () -> [Finding] in
      var findings: [Finding] = []
      for index in core.state.pointee.sets.indices {
        let set = core.state.pointee.sets[index]
        if set.contains(mode) {
          core.state.pointee.sets[index].starvationReported = false
          continue
        }
        guard set.timers > 0, !set.starvationReported else { continue }
        let due = core.overdue(inSet: Int32(index), before: Instants.subtract(now, limit))
        if !due.isEmpty { core.state.pointee.sets[index].starvationReported = true }
        findings += due.map { timer in
          let overdue = Instants.subtract(now, timer.due)
          let missed = timer.flags.contains(.repeats) ? overdue / timer.period : 0
          return Finding(timer: timer, modes: set.modes, overdue: overdue, missed: missed)
        }
      }
      return findings
    }
    for finding in findings { report(finding, loop, running: mode) }
  }

  private static func report(_ finding: Finding, _ loop: TrackedRunLoop, running mode: Int32) {
    let modes = finding.modes.map(ModeTable.name).joined(separator: ", ")
    Diagnostics.report(
      .modeStarved,
      "\(finding.timer.reportName) has been due for \(Diagnostics.milliseconds(finding.overdue)) and missed "
        + "\(finding.missed) fires: it is in mode \(modes), and \(loop) runs in \(ModeTable.name(mode))",
      loop: loop.name, timer: finding.timer,
      details: [
        "mode": modes, "runningMode": ModeTable.name(mode), "seconds": "\(Instants.seconds(finding.overdue))",
        "missed": "\(finding.missed)",
      ], weight: finding.overdue)
  }
}

extension LoopCore {
  /// The queued timers of a set that were due before `instant`, at most a few. The caller holds the lock.
  fileprivate func overdue(inSet set: Int32, before instant: Int64) -> [TrackedTimer] {
    let enoughToTell = 16
    var found: [TrackedTimer] = []
    for slot in 0..<state.pointee.slots.upperBound where found.count < enoughToTell {
      let slot = state.pointee.slots[Int32(slot)]
      guard slot.modeSet == set, let timer = slot.timer?.takeUnretainedValue() else { continue }
      if timer.flags.contains(.queued), timer.due < instant { found.append(timer) }
    }
    return found
  }
}
