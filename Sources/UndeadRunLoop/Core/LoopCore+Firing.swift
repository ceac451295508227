#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

// One pass over what is due. Between two callbacks the lock is taken once: to put the timer that fired back or to let it
// go, and to take the next one.

extension LoopCore {
  @inline(__always)
  var now: Int64 { state.pointee.clockIsMonotonic ? undead_loop_monotonic() : state.pointee.clock.now }

  /// Fires what is due in `mode` at `instant`. Timers scheduled by a callback wait for the next pass. Returns how many fired.
  func fireDue(mode: Int32, at instant: Int64) -> Int {
    var fired = 0
    var spent = Spent()
    var time = instant
    lock()
    state.pointee.timers.collect(mode: mode, at: instant)
    while let reference = state.pointee.timers.next(mode: mode) {
      if reference._withUnsafeGuaranteedRef({ fire($0, &time, &spent) }) { fired &+= 1 }
    }
    state.pointee.statistics.fires &+= fired
    unlock()
    spent.release()
    return fired
  }

  /// Calls a timer that was taken, without the lock, which the caller holds before and after.
  ///
  /// - Parameters:
  ///   - time: the present instant, which the call may change.
  ///   - spent: what was let go of before, and then, by this timer.
  /// - Returns: whether it was called.
  @inline(__always)
  private func fire(_ timer: TrackedTimer, _ time: inout Int64, _ spent: inout Spent) -> Bool {
    if timer.status.load(ordering: .relaxed) != TrackedTimer.Status.valid {
      drop(timer, &spent)
      return false
    }
    let lateness = time &- timer.overdueSince
    timer.noteFire(lateness: lateness)
    if timer.flags.contains(.repeats) {
      unlock()
      spent.release()
      call(timer, lateness: lateness)
      time = now
    } else {
      let action = timer.takeAction()
      let target = timer.takeTarget()
      unlock()
      spent.release()
      call(timer, last: action, target, lateness: lateness)
    }
    lockAgain()
    settle(timer, advancingPast: time, &spent)
    return true
  }

  /// Ends a timer that another thread is about to take out. This thread may have seen that it has ended: its own
  /// `invalidate()` returns as soon as another one has begun.
  @inline(never)
  private func drop(_ timer: TrackedTimer, _ spent: inout Spent) {
    unlock()
    spent.release()
    lockAgain()
    settle(timer, advancingPast: nil, &spent)
    spent.reason = .invalidated
  }

  /// What a timer no longer needs; released without the lock, before the next callback.
  struct Spent {
    var timer: Unmanaged<TrackedTimer>?
    var action: TrackedTimer.Kept?
    var target: AnyObject?
    var extras: TimerExtras?
    var reason = TimerEnd.invalidated

    /// Takes what a timer does, which is nothing from now on. The caller has exclusive access to the timer.
    @inline(__always)
    mutating func takeWork(of timer: TrackedTimer) {
      swap(&action, &timer.action)
      swap(&target, &timer.target)
    }

    @inline(__always)
    mutating func release() {
      action = nil
      target = nil
      if let ended = extras.take() { ended.end(reason) }
      timer?.release()
      timer = nil
    }
  }

  /// After a callback: the timer's next date, or its end. The caller holds the lock.
  ///
  /// - Parameters:
  ///   - time: skip the points of its grid up to this instant; nil leaves the fire date as it is.
  ///   - spent: receives what the caller must release after giving the lock back.
  @inline(__always)
  func settle(_ timer: TrackedTimer, advancingPast time: Int64?, _ spent: inout Spent) {
    timer.flags.remove(.firing)
    let isValid = timer.status.load(ordering: .acquiring) == TrackedTimer.Status.valid
    if isValid, timer.flags.contains(.repeats) {
      if timer.flags.contains(.rescheduled) {
        timer.flags.remove(.rescheduled)
      } else if let time {
        advance(timer, past: time)
      }
      if timer.slot >= 0 { return push(timer) }
    }
    timer.flags.remove(.rescheduled)
    let ends = !timer.flags.contains(.repeats) || !isValid
    if ends {
      spent.reason = timer.flags.contains(.repeats) ? .invalidated : .fired
      timer.status.store(TrackedTimer.Status.invalid, ordering: .releasing)
      if timer.hasWork { spent.takeWork(of: timer) }
      spent.extras = timer.extras.load()
    }
    // Last, because a timer without a home may be taken by any thread.
    if timer.flags.contains(.owed) {
      timer.flags.remove(.owed)
      spent.timer = Unmanaged.passUnretained(timer)
      timer.home.store(TrackedTimer.Home.none, ordering: .releasing)
    } else if ends, let reference = removeEntirely(timer) {
      spent.timer = reference
    }
  }

  /// Moves a repeating timer's date to the first point of its grid after `time`, in O(1), and counts the points skipped.
  @inline(__always)
  private func advance(_ timer: TrackedTimer, past time: Int64) {
    let next = Instants.add(timer.due, timer.period)
    if next > time {
      timer.due = next
    } else {
      skip(timer, from: next, past: time)
    }
    timer.flags.remove([.dated, .backdated])
  }

  @inline(never)
  private func skip(_ timer: TrackedTimer, from next: Int64, past time: Int64) {
    let skipped = Instants.subtract(time, next) / timer.period &+ 1
    // Points before a date that was set in the past are no ticks.
    let early = Instants.subtract(timer.overdueSince, timer.due) / timer.period
    timer.due = Instants.add(next, skipped &* timer.period)
    let missed = skipped &- early
    timer.noteMissed(missed)
    state.pointee.statistics.missed &+= Int(missed)
  }

  /// When to wake for timers of `mode` of which the first wants to at `instant`: not before the gap since the last wake-up has
  /// passed, unless there is a timer that would lose ticks by it, or the clock is not real. The caller holds the lock.
  func postponed(_ instant: Int64, mode: Int32) -> Int64 {
    guard instant != .max, !state.pointee.timers.hasUrgent(in: mode) else { return instant }
    let wanted = state.pointee.sleep.minimumGap
    let gap = state.pointee.clockIsMonotonic ? wanted : state.pointee.clock.gap(wanted)
    return gap > 0 ? max(instant, Instants.add(state.pointee.sleep.lastWake, gap)) : instant
  }

  /// The clock was set back: repeating timers keep their phase, with the next tick at most one interval away.
  func rephase(now: Int64) {
    withLock {
      for timer in state.pointee.timers.all {
        // One that was paused or postponed stays so.
        guard timer.flags.contains([.repeats, .queued]), !timer.flags.contains(.dated) else { continue }
        let ahead = Instants.subtract(timer.due, now)
        guard ahead > timer.period else { continue }
        reschedule(timer, onGrid: Instants.add(now, (ahead - 1) % timer.period + 1))
      }
    }
  }

  /// Takes all timers out of the loop, as when its thread ends. The caller holds the lock and releases what is returned.
  func removeAllTimers() -> [TrackedTimer] {
    let removed = state.pointee.timers.all
    for timer in removed { removeEntirely(timer)?.release() }
    state.pointee.timers.releaseMemory()
    return removed
  }
}
#endif
