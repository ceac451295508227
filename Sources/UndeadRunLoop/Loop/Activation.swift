#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

/// What a loop restores when an activation ends.
private struct OuterActivation {
  var running: UnsafeMutableRawPointer?
  /// The thread goes on to be the loop's when the activation ends.
  var ownsThread: Bool
}

extension TrackedRunLoop {
  func run(mode: Mode, deadline: Int64, returnAfterSource: Bool, asDriver: Bool = false) -> RunResult {
    guard let outer = enter(mode.index, asDriver: asDriver) else { return .finished }
    defer { leave(outer) }
    notify(.entry, mode.index)
    defer { notify(.exit, mode.index) }
    while true {
      let handledSource = pass(mode.index, deadline: deadline)
      if handledSource, returnAfterSource { return .handledSource }
      let verdict = core.withLock { () -> RunResult? in
        if core.state.pointee.activations.isStopped { return .stopped }
        return isEmpty(mode.index) ? .finished : nil
      }
      if verdict != .stopped, isPast(deadline) { return .timedOut }
      if let verdict { return verdict }
    }
  }

  /// - Parameter asDriver: whether it is for code that polls the descriptor, and cannot know that the loop runs elsewhere.
  private func enter(_ mode: Int32, asDriver: Bool) -> OuterActivation? {
    let thread = undead_loop_thread()
    let isMainThread = kind == .main && undead_loop_is_main_thread()
    let mayAdopt = kind == .free || (kind == .main && MainThread.isCurrent)
    if servesMainQueue(mode) { openMainQueue() }
    var isForeign = false
    let outer = core.withLock { () -> OuterActivation? in
      let state = core.state
      guard !state.pointee.isFinished, !state.pointee.activations.isStoppedForGood, mode != ModeTable.commonMode,
        !isEmpty(mode)
      else { return nil }
      if state.pointee.owner != thread {
        guard mayAdopt, state.pointee.activations.isEmpty else {
          isForeign = true
          return nil
        }
        state.pointee.owner = thread
        state.pointee.threadID = undead_loop_thread_id()
      }
      core.openPoller()
      let outer = OuterActivation(
        running: undead_loop_running(), ownsThread: kind == .thread || (kind == .main && isMainThread))
      if state.pointee.activations.isEmpty { state.pointee.wasHandedTimers = false }
      state.pointee.activations.push(mode: mode)
      state.pointee.sleep.end()
      if !state.pointee.sources.isEmpty { core.checkDescriptors() }
      return outer
    }
    if isForeign, !asDriver {
      Diagnostics.report(
        .ranOnForeignThread, "\(self) was asked to run on a thread that is not its own", loop: name)
    }
    if outer != nil { undead_loop_set_running(Unmanaged.passUnretained(self).toOpaque()) }
    return outer
  }

  private func leave(_ outer: OuterActivation) {
    undead_loop_set_running(outer.running)
    let isWaitedFor = core.withLock { () -> Bool in
      let state = core.state
      state.pointee.activations.pop()
      guard state.pointee.activations.isEmpty else { return false }
      core.closeInbox()
      if !outer.ownsThread { state.pointee.owner = 0 }
      return state.pointee.poller.timer >= 0 || state.pointee.driving.isWaiting
    }
    guard isWaitedFor else { return }
    // This run may have got a notification that was for a driver.
    armForDriver()
    for resume in core.withLock({ core.state.pointee.driving.takeWaiting() }) { resume() }
  }

  /// Whether a run in `mode` would have nothing to wait for. Observers are not content. The caller holds the lock.
  func isEmpty(_ mode: Int32) -> Bool {
    let isCommon = core.state.pointee.commonModes.contains(mode)
    return !core.state.pointee.timers.hasTimers(in: mode) && !(core.state.pointee.isAnchored && isCommon)
      && !core.state.pointee.sources.hasSources(in: mode)
      && !core.state.pointee.work.hasWork(mode: mode, commonModes: core.state.pointee.commonModes)
      && !(core.state.pointee.poller.servesMainQueue && isCommon)
  }

  /// Whether an instant has come. The clock is asked only if it matters.
  func isPast(_ deadline: Int64) -> Bool {
    deadline == .min || (deadline != .max && clock.now >= deadline)
  }

  private func servesMainQueue(_ mode: Int32) -> Bool {
    kind == .main && !core.withLock { core.state.pointee.poller.servesMainQueue } && undead_loop_is_main_thread()
  }

  private func openMainQueue() {
    core.withLock {
      guard core.openPoller() else { return }
      core.state.pointee.poller.servesMainQueue = true
    }
  }
}
#endif
