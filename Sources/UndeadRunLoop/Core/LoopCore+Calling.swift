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
    _ timer: TrackedTimer, last action: consuming TrackedTimer.Action, _ target: consuming AnyObject?, lateness: Int64
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
  /// Calls an action of this timer, whatever it does.
  func invoke(_ action: borrowing Action, _ target: AnyObject?) {
    do {
      switch action {
      case .block(let block): try block(self)
      case .method(let method): if let target { try call(method, target) }
      case .target(let target): try call(target)
      case .none: break
      }
    } catch {
      failed(error)
    }
  }

  /// Calls the action of a one-shot timer, ends the timer, and lets go of the action: it is moved, because copying it
  /// would cost a retain and a release.
  @inline(__always)
  func invoke(last action: consuming Action, _ target: consuming AnyObject?) {
    do {
      switch consume action {
      case .block(let block): try callLast(block)
      case .method(let method): if let target { try callLast(method, target) }
      case .target(let target): try callLast(target)
      case .none: break
      }
    } catch {
      failed(error)
    }
  }

  // Functions of their own, because the timer must have ended when the caller lets go of what was called.

  @inline(never)
  private func callLast(_ block: Callback) throws {
    try block(self)
    status.store(Status.invalid, ordering: .releasing)
  }

  @inline(never)
  private func callLast(_ method: TimerTarget.Method, _ target: AnyObject) throws {
    try call(method, target)
    status.store(Status.invalid, ordering: .releasing)
  }

  @inline(never)
  private func callLast(_ target: TimerTarget) throws {
    try call(target)
    status.store(Status.invalid, ordering: .releasing)
  }

  @inline(__always)
  private func call(_ method: TimerTarget.Method, _ target: AnyObject) throws {
    if targetIsProxy, TimerTarget.living(target) == nil {
      targetIsGone(StrongTarget(target, "") { _, _ in }, .targetGone)
    } else {
      try method(target, self)
    }
  }

  @inline(__always)
  private func call(_ target: TimerTarget) throws {
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
    guard case .block(let block) = action, target == nil else {
      return deadOwnerOfUserInfo
    }
    return Instrument.ownerThatIsGone(of: block)
  }

  /// The action, which leaves the timer. The caller has exclusive access to the timer.
  @inline(__always)
  func takeAction() -> Action {
    var taken = Action.none
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

  /// Whether there is something to take.
  @inline(__always)
  var hasWork: Bool { if case .none = action { false } else { true } }
}
