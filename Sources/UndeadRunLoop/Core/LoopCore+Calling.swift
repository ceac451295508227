import CUndeadRunLoop

extension LoopCore {
  /// Calls a timer that is marked as firing. The caller does not hold the lock.
  @inline(__always)
  func call(_ timer: TrackedTimer, _ action: borrowing TrackedTimer.Action, lateness: Int64) {
    if Diagnostics.isOn {
      callObserved(timer, copy action, lateness: lateness)
    } else {
      timer.invoke(action)
    }
  }

  @inline(never)
  private func callObserved(_ timer: TrackedTimer, _ action: TrackedTimer.Action, lateness: Int64) {
    guard let loop = withLock({ state.pointee.loop?.takeUnretainedValue() }) else { return timer.invoke(action) }
    // Callbacks of this pass may have taken their time since it began.
    let overdue = withLock { Instants.subtract(now, timer.due) }
    Diagnostics.willCall(timer, on: loop, lateness: max(lateness, overdue))
    Diagnostics.watching(loop, timer) { timer.invoke(action) }
  }
}

extension TrackedTimer {
  /// Calls an action of this timer, whatever it does.
  @inline(__always)
  func invoke(_ action: borrowing Action) {
    do {
      switch action {
      case .block(let block): try block(self)
      case .target(let target):
        let outcome = try target.call(self)
        if outcome != .called { targetIsGone(target, outcome) }
      case .none: break
      }
    } catch {
      failed(error)
    }
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

  /// Counts a fire. The caller holds the loop's lock.
  @inline(__always)
  func noteFire(lateness: Int64) {
    fireCount &+= 1
    let microseconds = UInt32(clamping: lateness / 1000)
    latestMicroseconds = microseconds
    if microseconds > worstMicroseconds { worstMicroseconds = microseconds }
  }
}
