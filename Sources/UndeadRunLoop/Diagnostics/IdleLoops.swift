#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Notices timers in a loop that nobody runs: those of a thread that never calls `run`, above all.
enum IdleLoops {
  /// It names timers rather than holding them, which could end them on a thread that is not theirs.
  private struct Finding {
    var timers: [String] = []
    var count = 0
    var overdue: Int64 = 0
    var missed: Int64 = 0
    /// The address of the first of them.
    var address: UInt = 0

    mutating func add(_ timer: TrackedTimer, overdue: Int64) {
      let enoughToTell = 8
      if count == 0 { address = HiddenReference(timer).address }
      if timers.count < enoughToTell { timers.append(timer.reportName) }
      count += 1
      self.overdue = max(self.overdue, overdue)
      missed += timer.flags.contains(.repeats) ? overdue / timer.period : 0
    }

    var names: String {
      timers.joined(separator: ", ") + (count > timers.count ? " and \(count - timers.count) more" : "")
    }

    var backtraces: [RunLoopDiagnostic.Trace] {
      let creation = Diagnostics.creation(of: address)
      return creation.isEmpty ? [] : [.init(role: "creation", addresses: creation)]
    }
  }

  /// Looks at a loop that has not run so far, and reports it once if its timers have been due for long.
  ///
  /// - Parameter patience: how many nanoseconds the loop's lock may be held by another thread; nil waits for it.
  static func look(at loop: KnownLoop, patience: Int64? = nil) {
    let limit = Diagnostics.limits.modeStarved.load(ordering: .relaxed)
    let now = loop.identity.clock.now
    let take = { () -> Finding in
      guard loop.isAlive, !loop.core.isRunBySomebody, !loop.core.state.pointee.statistics.isReportedIdle else {
        return Finding()
      }
      let finding = overdue(loop.core, now: now, before: Instants.subtract(now, limit))
      if finding.count > 0 { loop.core.state.pointee.statistics.isReportedIdle = true }
      return finding
    }
    let finding = if let patience { loop.core.withLock(within: patience, take) } else { loop.core.withLock(take) }
    if let finding, finding.count > 0 { report(finding, loop.identity.name) }
  }

  /// The caller holds the loop's lock.
  private static func overdue(_ core: LoopCore, now: Int64, before instant: Int64) -> Finding {
    var finding = Finding()
    core.state.pointee.timers.visit { timer in
      if timer.flags.contains(.queued), timer.overdueSince < instant, timer.fireCount == 0 {
        finding.add(timer, overdue: Instants.subtract(now, timer.overdueSince))
      }
      return true
    }
    return finding
  }

  private static func report(_ finding: Finding, _ loop: String) {
    let isOne = finding.count == 1
    Diagnostics.report(
      .loopNeverRun,
      "\(finding.names) \(isOne ? "has" : "have") been due for \(Diagnostics.milliseconds(finding.overdue)) and cannot "
        + "fire: nobody runs run loop \"\(loop)\"; call run() on its thread",
      loop: loop,
      details: [
        "timers": "\(finding.count)", "seconds": "\(Instants.seconds(finding.overdue))", "missed": "\(finding.missed)",
      ],
      backtraces: finding.backtraces, weight: finding.overdue)
  }

  /// A thread has ended without running its loop.
  static func ended(_ loop: TrackedRunLoop, timers: [TrackedTimer]) {
    var finding = Finding()
    for timer in timers { finding.add(timer, overdue: 0) }
    Diagnostics.report(
      .loopNeverRun,
      "the thread of run loop \"\(loop.name)\" ended without running it: \(finding.names) never fired; call run() after "
        + "scheduling",
      loop: loop.name, details: ["timers": "\(timers.count)"], backtraces: finding.backtraces)
  }
}

extension LoopCore {
  /// Whether the loop was run or ended, or its descriptor is polled. The caller holds the lock.
  fileprivate var isRunBySomebody: Bool {
    state.pointee.statistics.passes > 0 || !state.pointee.activations.isEmpty || state.pointee.poller.timer >= 0
      || state.pointee.activations.isStoppedForGood || state.pointee.isFinished
  }
}
#endif
