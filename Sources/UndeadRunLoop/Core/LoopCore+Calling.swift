#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

extension LoopCore {
  /// Calls a repeating timer that is marked as firing. The caller does not hold the lock.
  @inline(__always)
  func call(_ timer: TrackedTimer, lateness: Int64) {
    if Diagnostics.isOn {
      let deadOwner = timer.deadOwnerOfBlock
      observing(timer, lateness: lateness) { timer.invoke(timer.action, timer.target) }
      // It had the chance to end itself.
      if let deadOwner, timer.isValid { Diagnostics.firingForNobody(timer, deadOwner) }
    } else {
      timer.invoke(timer.action, timer.target)
    }
  }

  /// Calls a one-shot timer that is marked as firing, which ends it. The caller does not hold the lock.
  @inline(__always)
  func call(
    _ timer: TrackedTimer, last action: consuming TrackedTimer.Kept?, _ target: consuming AnyObject?, lateness: Int64
  ) {
    if Diagnostics.isOn {
      observing(timer, lateness: lateness) { timer.invoke(action, target) }
      timer.status.store(TrackedTimer.Status.invalid, ordering: .releasing)
    } else {
      timer.invoke(last: action, target)
    }
  }

  @inline(never)
  private func observing(_ timer: TrackedTimer, lateness: Int64, _ body: () -> Void) {
    guard let loop = withLock({ state.pointee.loop?.takeUnretainedValue() }) else { return body() }
    // Callbacks of this pass may have taken their time since it began.
    let overdue = withLock { Instants.subtract(now, timer.overdueSince) }
    Diagnostics.willCall(timer, on: loop, lateness: max(lateness, overdue))
    Diagnostics.watching(loop, timer, body)
  }
}

extension TrackedTimer {
  /// Calls what this timer calls: `action` and `target` are its own.
  func invoke(_ action: Kept?, _ target: AnyObject?) {
    do { try call(action, target) } catch { failed(error) }
  }

  /// Calls what a one-shot timer calls, ends the timer, and lets go of it.
  @inline(__always)
  func invoke(last action: consuming Kept?, _ target: consuming AnyObject?) {
    do { try callLast(action, target) } catch { failed(error) }
  }

  /// A function of its own, because the timer must have ended when the caller lets go of what was called.
  @inline(never)
  private func callLast(_ action: Kept?, _ target: AnyObject?) throws {
    try call(action, target)
    status.store(Status.invalid, ordering: .releasing)
  }

  @inline(__always)
  private func call(_ action: Kept?, _ target: AnyObject?) throws {
    switch kind {
    case .block: if let action { try action.action(self) }
    case .method: if let action, let target { try TimerTarget.call(kept: action, target, self) }
    case .proxyMethod: if let action, let target { try callProxy(action, target) }
    case .held: if let target { try call(held: unsafeDowncast(target, to: TimerTarget.self)) }
    }
  }

  private func callProxy(_ action: Kept, _ target: AnyObject) throws {
    if TimerTarget.living(target) == nil {
      targetIsGone(StrongTarget(target, "") { _, _ in }, .targetGone)
    } else {
      try TimerTarget.call(kept: action, target, self)
    }
  }

  @inline(__always)
  private func call(held target: TimerTarget) throws {
    let outcome = try target.call(self)
    if outcome != .called { targetIsGone(target, outcome) }
  }

  @inline(never)
  private func targetIsGone(_ target: TimerTarget, _ outcome: TimerTarget.Outcome) {
    if outcome == .freedTarget {
      Diagnostics.zombie(timer: self, target: target)
      invalidate()
    } else {
      if endsWithTarget { invalidate() } else { Diagnostics.firingForDeadTarget(self, target.typeName) }
    }
  }

  @inline(never)
  private func failed(_ error: any Error) {
    makeExtras().error = error
    invalidate()
    Diagnostics.report(.callbackThrew, "\(reportName) threw an error and was invalidated: \(error)", timer: self)
  }

  /// The type of an object that is gone if the timer's block can do nothing without it. The timer is firing.
  fileprivate var deadOwnerOfBlock: String? {
    guard kind == .block, let block = action?.action else {
      return deadOwnerOfUserInfo
    }
    return Instrument.ownerThatIsGone(of: block)
  }

  /// The action, which leaves the timer. The caller has exclusive access to the timer.
  @inline(__always)
  func takeAction() -> Kept? {
    var taken: Kept?
    swap(&taken, &action)
    return taken
  }

  /// The target, which leaves the timer. The caller has exclusive access to the timer.
  @inline(__always)
  func takeTarget() -> AnyObject? {
    var taken: AnyObject?
    swap(&taken, &target)
    return taken
  }

  @inline(__always)
  var hasWork: Bool { action != nil || target != nil }
}
#endif
