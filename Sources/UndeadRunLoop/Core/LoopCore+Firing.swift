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
    returnDeferred()
    serve(mode)
    var limit = state.pointee.sequence << DueKey.slotBits
    let numbering = state.pointee.renumberings
    while let reference = takeDue(at: instant, limit: limit) {
      reference._withUnsafeGuaranteedRef { fire($0, &time, &spent) }
      fired &+= 1
      if state.pointee.servedMode != mode { serve(mode) }
      // After a renumbering everything scheduled so far counts as part of this pass.
      if state.pointee.renumberings != numbering { limit = state.pointee.sequence << DueKey.slotBits }
    }
    returnDeferred()
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
  @inline(__always)
  private func fire(_ timer: TrackedTimer, _ time: inout Int64, _ spent: inout Spent) {
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
  }

  /// What a timer no longer needs; released without the lock, before the next callback.
  struct Spent {
    var timer: Unmanaged<TrackedTimer>?
    var action = TrackedTimer.Action.none
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
      action = .none
      target = nil
      if let ended = extras.take() { ended.end(reason) }
      timer?.release()
      timer = nil
    }
  }

  /// Takes the first due timer out of the queue. The caller holds the lock and has called `serve`.
  @inline(__always)
  private func takeDue(at instant: Int64, limit: UInt64) -> Unmanaged<TrackedTimer>? {
    while true {
      var best = DueEntry(due: instant, key: .max)
      var bestSet = -1
      var isSoft = false
      for index in 0..<state.pointee.servedSets.count {
        let set = state.pointee.servedSets[index]
        if state.pointee.sets[set].timers == 0 { continue }
        state.pointee.sets[set].exact.clean(state.pointee.slots)
        if state.pointee.sets[set].exact.isTop(before: best) {
          best = state.pointee.sets[set].exact.first
          bestSet = set
          isSoft = false
        }
        if state.pointee.sets[set].soft.count == 0 { continue }
        state.pointee.sets[set].soft.clean(state.pointee.slots)
        if state.pointee.sets[set].soft.isTop(before: best) {
          best = state.pointee.sets[set].soft.first
          bestSet = set
          isSoft = true
        }
      }
      if bestSet < 0 { return nil }
      if isSoft { state.pointee.sets[bestSet].soft.popTop() } else { state.pointee.sets[bestSet].exact.popTop() }
      if best.key >= limit {
        state.pointee.deferred.append(best)
        continue
      }
      let slot = Int32(DueKey.slot(best.key))
      state.pointee.slots[slot].key = 0
      if isSoft { state.pointee.sets[bestSet].hard.noteDead(state.pointee.slots) }
      let reference = state.pointee.slots[slot].timer.unsafelyUnwrapped
      reference._withUnsafeGuaranteedRef { timer in
        timer.flags.remove(.queued)
        timer.flags.insert(.firing)
      }
      return reference
    }
  }

  /// Puts the entries that waited for the next pass back. The caller holds the lock.
  private func returnDeferred() {
    if state.pointee.deferred.isEmpty { return }
    let entries = state.pointee.deferred
    state.pointee.deferred = []
    for entry in entries {
      let slot = Int32(DueKey.slot(entry.key))
      // A timer that was removed meanwhile counted its entry as dead, but the entry was not in the heap.
      let set = Int(state.pointee.slots[slot].modeSet)
      if !state.pointee.slots.isLive(entry.key) { continue }
      let isSoft = state.pointee.slots[slot].timer?._withUnsafeGuaranteedRef { $0.leeway != 0 } ?? false
      if isSoft { state.pointee.sets[set].soft.push(entry) } else { state.pointee.sets[set].exact.push(entry) }
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
      if timer.slot >= 0 { return push(timer, set: state.pointee.slots[timer.slot].modeSet) }
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
    // Points before a date was set that had passed were nobody's ticks.
    let early = Instants.subtract(timer.overdueSince, timer.due) / timer.period
    timer.due = Instants.add(next, skipped &* timer.period)
    let missed = skipped &- early
    timer.missedCount &+= UInt64(missed)
    state.pointee.statistics.missed &+= Int(missed)
  }

  /// When the loop must wake for a timer of `mode`: as late as tolerances allow. The caller holds the lock.
  func nextWake(mode: Int32) -> Int64 {
    // A callback of the pass that is under way may ask, in a run of its own.
    returnDeferred()
    serve(mode)
    var wake = Int64.max
    for index in state.pointee.servedSets.indices {
      let set = state.pointee.servedSets[index]
      state.pointee.sets[set].exact.clean(state.pointee.slots)
      state.pointee.sets[set].hard.clean(state.pointee.slots)
      if let top = state.pointee.sets[set].exact.top { wake = min(wake, top.due) }
      if let top = state.pointee.sets[set].hard.top { wake = min(wake, top.due) }
    }
    return wake
  }

  /// When to wake for timers of `mode` of which the first wants to at `instant`: not before the gap since the last wake-up has
  /// passed, unless there is a timer that would lose ticks by it, or the clock is not real. The caller holds the lock.
  func postponed(_ instant: Int64, mode: Int32) -> Int64 {
    guard instant != .max, !hasUrgentTimers(in: mode) else { return instant }
    let wanted = state.pointee.sleep.minimumGap
    let gap = state.pointee.clockIsMonotonic ? wanted : state.pointee.clock.gap(wanted)
    return gap > 0 ? max(instant, Instants.add(state.pointee.sleep.lastWake, gap)) : instant
  }

  /// Whether a timer of `mode` has an interval that is not many times the gap. The caller holds the lock.
  private func hasUrgentTimers(in mode: Int32) -> Bool {
    serve(mode)
    return state.pointee.servedSets.contains { state.pointee.sets[$0].urgent > 0 }
  }

  /// The earliest date of a timer of `mode`, or nil. The caller holds the lock.
  func nextDue(mode: Int32) -> Int64? {
    returnDeferred()
    serve(mode)
    var due: Int64?
    for index in state.pointee.servedSets.indices {
      let set = state.pointee.servedSets[index]
      state.pointee.sets[set].exact.clean(state.pointee.slots)
      state.pointee.sets[set].soft.clean(state.pointee.slots)
      for top in [state.pointee.sets[set].exact.top, state.pointee.sets[set].soft.top].compactMap({ $0 }) {
        due = min(due ?? .max, top.due)
      }
    }
    return due
  }

  /// The clock was set back: repeating timers keep their phase, with the next tick at most one interval away.
  func rephase(now: Int64) {
    withLock {
      for slot in 0..<state.pointee.slots.upperBound {
        let slot = Int32(slot)
        guard let reference = state.pointee.slots[slot].timer else { continue }
        reference._withUnsafeGuaranteedRef { timer in
          guard timer.flags.contains(.repeats), timer.flags.contains(.queued) else { return }
          // One that was paused or postponed stays so.
          if timer.flags.contains(.dated) { return }
          let ahead = Instants.subtract(timer.due, now)
          guard ahead > timer.period else { return }
          reschedule(timer, onGrid: Instants.add(now, (ahead - 1) % timer.period + 1))
        }
      }
    }
  }

  /// Takes all timers out of the loop, as when its thread ends. The caller holds the lock and releases what is returned.
  func removeAllTimers() -> [TrackedTimer] {
    var removed: [TrackedTimer] = []
    for slot in 0..<state.pointee.slots.upperBound {
      guard let reference = state.pointee.slots[Int32(slot)].timer else { continue }
      let timer = reference.takeUnretainedValue()
      removed.append(timer)
      removeEntirely(timer)?.release()
    }
    for set in state.pointee.sets.indices {
      state.pointee.sets[set].exact.deallocate()
      state.pointee.sets[set].soft.deallocate()
      state.pointee.sets[set].hard.deallocate()
      state.pointee.sets[set].timers = 0
      state.pointee.sets[set].urgent = 0
    }
    state.pointee.deferred = []
    return removed
  }
}
