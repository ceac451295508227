#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

// Adding, removing and moving timers.

extension TrackedTimer {
  /// Runs `body` with exclusive access to the timer, and with the loop that it is in.
  @inline(__always)
  func withHome<Output>(_ body: (LoopCore?) -> Output) -> Output {
    var backOff = BackOff()
    while true {
      let bits = home.load(ordering: .acquiring)
      if bits == Home.locked {
        backOff.wait()
      } else if let core = LoopCore(bits: bits) {
        core.lock()
        defer { core.unlock() }
        if home.load(ordering: .relaxed) == bits { return body(core) }
      } else if home.compareExchange(
        expected: Home.none, desired: Home.locked, ordering: .sequentiallyConsistent
      ).exchanged {
        defer { home.store(Home.none, ordering: .releasing) }
        return body(nil)
      }
    }
  }
}

extension LoopCore {
  /// Puts a timer into `mode`.
  func add(_ timer: TrackedTimer, mode: Int32) -> Membership.Outcome {
    lock()
    defer { unlock() }
    if state.pointee.isFinished { return .refused(.finished) }
    var backOff = BackOff()
    while true {
      let claim = timer.home.compareExchange(
        expected: TrackedTimer.Home.none, desired: bits, ordering: .sequentiallyConsistent)
      if claim.exchanged { break }
      if claim.original == bits { return addToAnotherMode(timer, mode: mode) }
      if claim.original != TrackedTimer.Home.locked { return .refused(.elsewhere(claim.original)) }
      backOff.wait()
    }
    if timer.status.load(ordering: .sequentiallyConsistent) != TrackedTimer.Status.valid {
      timer.home.store(TrackedTimer.Home.none, ordering: .releasing)
      return .refused(.over)
    }
    return place(timer, inSet: modeSet(single: mode))
  }

  /// Puts a timer that no other thread has seen yet into `mode`: there is nobody to compete with for its home.
  ///
  /// - Parameter isForeign: whether the calling thread is not the one that runs the loop.
  func add(new timer: TrackedTimer, mode: Int32, isForeign: Bool) -> Membership.Outcome {
    timer.home.store(bits, ordering: .releasing)
    if isForeign, inbox.push(timer, mode: mode) { return .added }
    lock()
    defer { unlock() }
    if state.pointee.isFinished {
      timer.home.store(TrackedTimer.Home.none, ordering: .releasing)
      return .refused(.finished)
    }
    if isForeign { state.pointee.wasHandedTimers = true }
    return place(timer, inSet: modeSet(single: mode))
  }

  /// Gives the timers that other threads scheduled their places. The caller holds the lock, and nothing that waits for it
  /// has seen these timers.
  @inline(never)
  func takeInbox() {
    let lookAhead = 8
    let entries = inbox.takeAll()
    state.pointee.wasHandedTimers = true
    for index in entries.indices {
      if index + lookAhead < entries.count { undead_loop_prefetch(entries[index + lookAhead].timer.toOpaque()) }
      // There is room: the inbox is closed before the last slots are used.
      entries[index].timer._withUnsafeGuaranteedRef { timer in
        install(timer, entries[index].timer, inSet: modeSet(single: entries[index].mode))
      }
    }
    inbox.clear(entries)
    if state.pointee.timers.isFull { inbox.setOpen(false) }
  }

  /// Lets other threads schedule without the loop's lock while the loop is awake. The caller holds the lock.
  func openInbox() {
    let clockNeedsTranslation = !state.pointee.clockIsMonotonic
    inbox.setOpen(!clockNeedsTranslation && !state.pointee.isFinished && !state.pointee.timers.isFull)
  }

  /// Takes what is in the inbox for the last time before it is opened again. The caller holds the lock.
  func closeInbox() {
    inbox.setOpen(false)
    if !inbox.isEmpty { takeInbox() }
  }

  /// Enters a timer that is at home here, and in no mode. The caller holds the lock.
  @inline(__always)
  private func place(_ timer: TrackedTimer, inSet set: Int32) -> Membership.Outcome {
    if state.pointee.timers.isFull {
      timer.home.store(TrackedTimer.Home.none, ordering: .releasing)
      return .refused(.full)
    }
    install(timer, Unmanaged.passRetained(timer), inSet: set)
    return .added
  }

  /// Puts a timer into a set of modes and, unless it is firing, into the queue. The caller holds the lock.
  ///
  /// - Parameter reference: the timer, retained for the queue.
  @inline(__always)
  private func install(_ timer: TrackedTimer, _ reference: Unmanaged<TrackedTimer>, inSet set: Int32) {
    state.pointee.timers.insert(timer, reference, set: set)
    if !state.pointee.clockIsMonotonic || timer.flags.contains(.foreignClock) { adoptClock(timer) }
    timer.flags.remove(.relative)
    timer.flags.insert(.wasScheduled)
    if !timer.flags.contains(.firing) { push(timer) }
  }

  /// The set of modes for a timer that is only in `mode`. The caller holds the lock.
  @inline(__always)
  private func modeSet(single mode: Int32) -> Int32 { state.pointee.timers.set(single: mode) { expand($0) } }

  /// Translates the fire date of a timer that lived by another clock until now. The caller holds the lock.
  private func adoptClock(_ timer: TrackedTimer) {
    let clock = state.pointee.clock
    let former = timer.clockOutsideLoops
    timer.flags.remove(.foreignClock)
    if timer.flags.contains(.backdated), former !== clock { timer.makeExtras().datedAt = clock.now }
    if timer.flags.contains(.relative) {
      timer.due = Instants.add(clock.now, timer.period)
    } else if former !== clock {
      timer.due = clock.instant(at: former.date(at: timer.due))
    }
  }

  /// Queues a timer, and wakes the loop if need be. The caller holds the lock.
  @inline(__always)
  func push(_ timer: TrackedTimer) {
    state.pointee.timers.queue(timer)
    state.pointee.sleep.note(due: timer.latest)
  }

  /// Takes a timer out of the loop. The caller holds the lock, and releases what is returned after giving it back.
  @inline(__always)
  func removeEntirely(_ timer: TrackedTimer) -> Unmanaged<TrackedTimer>? {
    guard timer.slot >= 0 else { return nil }
    if !state.pointee.clockIsMonotonic { timer.keepClock(state.pointee.clock) }
    let reference = state.pointee.timers.remove(timer)
    if timer.flags.contains(.firing) {
      timer.flags.insert(.owed)
      return nil
    }
    timer.home.store(TrackedTimer.Home.none, ordering: .releasing)
    return reference
  }

  private func addToAnotherMode(_ timer: TrackedTimer, mode: Int32) -> Membership.Outcome {
    if timer.status.load(ordering: .relaxed) != TrackedTimer.Status.valid { return .refused(.over) }
    // Removed during its own callback, and now added again.
    if timer.slot < 0 {
      timer.flags.remove(.owed)
      let outcome = place(timer, inSet: modeSet(single: mode))
      // `place` retained it for the slot; the reference that was owed is the one that the slot had before.
      if case .added = outcome { Unmanaged.passUnretained(timer).release() }
      return outcome
    }
    let present = state.pointee.timers.modes(of: timer)
    let wanted = Set(present).union(expand(mode)).sorted()
    if wanted == present { return .alreadyThere }
    move(timer, to: wanted)
    return .widened
  }

  /// Takes a timer out of `mode`. The caller releases what is returned.
  func remove(_ timer: TrackedTimer, mode: Int32) -> Unmanaged<TrackedTimer>? {
    withLock { () -> Unmanaged<TrackedTimer>? in
      guard timer.home.load(ordering: .relaxed) == bits, timer.slot >= 0 else { return nil }
      let present = state.pointee.timers.modes(of: timer)
      let left = Set(present).subtracting(expand(mode)).sorted()
      if left.isEmpty { return removeEntirely(timer) }
      if left != present { move(timer, to: left) }
      return nil
    }
  }

  /// Moves a timer to another set of modes, in which it may be due earlier. The caller holds the lock.
  private func move(_ timer: TrackedTimer, to modes: [Int32]) {
    state.pointee.timers.move(timer, to: state.pointee.timers.set(modes))
    if timer.flags.contains(.queued) { state.pointee.sleep.note(due: timer.latest) }
  }

  /// Gives a timer the fire date that a caller wants for it. The caller holds the lock.
  func reschedule(_ timer: TrackedTimer, due: Int64, now: Int64) {
    requeue(timer) { timer.setDate(due, now: now) }
  }

  /// Gives a timer another fire date, the next point of its grid. The caller holds the lock.
  func reschedule(_ timer: TrackedTimer, onGrid due: Int64) {
    requeue(timer) {
      timer.due = due
      timer.flags.remove([.relative, .dated, .backdated])
    }
  }

  private func requeue(_ timer: TrackedTimer, _ change: () -> Void) {
    guard timer.slot >= 0, !timer.flags.contains(.firing) else {
      change()
      timer.flags.insert(.rescheduled)
      return
    }
    state.pointee.timers.unqueue(timer)
    change()
    push(timer)
  }

  /// Gives a timer another tolerance without touching its phase. The caller holds the lock.
  func setLeeway(_ timer: TrackedTimer, _ leeway: Int64) {
    guard timer.slot >= 0, timer.flags.contains(.queued) else {
      timer.leeway = leeway
      return
    }
    state.pointee.timers.unqueue(timer)
    timer.leeway = leeway
    push(timer)
  }
}
#endif
