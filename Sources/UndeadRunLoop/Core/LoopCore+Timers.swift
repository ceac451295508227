import CUndeadRunLoop
import Glibc

// Adding, removing and moving timers. A timer's entry in the queue is valid as long as its slot carries the same key, so
// that removal is O(1) and the entry is dropped when it comes to the top.

extension TrackedTimer {
  /// Runs `body` with exclusive access to the timer, and with the loop that it is in.
  @inline(__always)
  func withHome<Result>(_ body: (LoopCore?) -> Result) -> Result {
    while true {
      let bits = home.load(ordering: .acquiring)
      if bits == Home.locked {
        sched_yield()
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
  enum AddOutcome {
    case added
    case alreadyThere
    case refused(Refusal)
  }
  enum Refusal {
    case finished, invalid
    case otherLoop(UInt)
    case full
  }

  /// Puts a timer into `mode`.
  func add(_ timer: TrackedTimer, mode: Int32) -> AddOutcome {
    lock()
    defer { unlock() }
    if state.pointee.isFinished { return .refused(.finished) }
    while true {
      let claim = timer.home.compareExchange(
        expected: TrackedTimer.Home.none, desired: bits, ordering: .sequentiallyConsistent)
      if claim.exchanged { break }
      if claim.original == bits { return addToAnotherMode(timer, mode: mode) }
      if claim.original != TrackedTimer.Home.locked { return .refused(.otherLoop(claim.original)) }
    }
    if timer.status.load(ordering: .sequentiallyConsistent) != TrackedTimer.Status.valid {
      timer.home.store(TrackedTimer.Home.none, ordering: .releasing)
      return .refused(.invalid)
    }
    return place(timer, inSet: modeSet(single: mode))
  }

  /// Puts a timer that no other thread has seen yet into `mode`: there is nobody to compete with for its home.
  ///
  /// - Parameter isForeign: whether the calling thread is not the one that runs the loop.
  func add(new timer: TrackedTimer, mode: Int32, isForeign: Bool) -> AddOutcome {
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
      guard let slot = state.pointee.slots.take() else { preconditionFailure("no slot for a timer that was accepted") }
      entries[index].timer._withUnsafeGuaranteedRef { timer in
        install(timer, entries[index].timer, slot: slot, inSet: modeSet(single: entries[index].mode))
      }
    }
    inbox.clear(entries)
    if state.pointee.slots.used >= DueKey.slotLimit { inbox.setOpen(false) }
  }

  /// Lets other threads schedule without the loop's lock while the loop is awake. The caller holds the lock.
  func openInbox() {
    let clockNeedsTranslation = !state.pointee.clockIsMonotonic
    inbox.setOpen(!clockNeedsTranslation && !state.pointee.isFinished && state.pointee.slots.used < DueKey.slotLimit)
  }

  /// Takes what is in the inbox for the last time before it is opened again. The caller holds the lock.
  func closeInbox() {
    inbox.setOpen(false)
    if !inbox.isEmpty { takeInbox() }
  }

  /// Gives a timer that is at home here, and in no mode, a slot. The caller holds the lock.
  @inline(__always)
  private func place(_ timer: TrackedTimer, inSet set: Int32) -> AddOutcome {
    guard state.pointee.slots.used < DueKey.slotLimit, let slot = state.pointee.slots.take() else {
      timer.home.store(TrackedTimer.Home.none, ordering: .releasing)
      return .refused(.full)
    }
    install(timer, Unmanaged.passRetained(timer), slot: slot, inSet: set)
    return .added
  }

  /// Puts a timer into a slot and, unless it is firing, into the queue. The caller holds the lock.
  ///
  /// - Parameter reference: the timer, retained for the slot.
  @inline(__always)
  private func install(
    _ timer: TrackedTimer, _ reference: Unmanaged<TrackedTimer>, slot: Int32, inSet set: Int32
  ) {
    state.pointee.slots[slot].timer = reference
    state.pointee.slots[slot].modeSet = set
    count(timer, inSet: set, 1)
    timer.slot = slot
    if !state.pointee.clockIsMonotonic || timer.flags.contains(.foreignClock) { adoptClock(timer) }
    timer.flags.remove(.relative)
    timer.flags.insert(.wasScheduled)
    if !timer.flags.contains(.firing) { push(timer, set: set) }
  }

  /// Counts a timer in a set of modes, or out of it. The caller holds the lock.
  @inline(__always)
  private func count(_ timer: TrackedTimer, inSet set: Int32, _ change: Int) {
    state.pointee.sets[Int(set)].timers &+= change
    if timer.period < LoopState.urgentPeriod { state.pointee.sets[Int(set)].urgent &+= change }
  }

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

  /// Enters a timer into the queue under a new key. The caller holds the lock.
  @inline(__always)
  func push(_ timer: TrackedTimer, set: Int32) {
    if state.pointee.sequence >= DueKey.sequenceLimit - 1 { renumber() }
    let key = DueKey.make(sequence: state.pointee.sequence, slot: timer.slot)
    state.pointee.sequence &+= 1
    state.pointee.slots[timer.slot].key = key
    timer.flags.insert(.queued)
    let entry = DueEntry(due: timer.due, key: key)
    let latest = Instants.add(timer.due, timer.leeway)
    if timer.leeway == 0 {
      state.pointee.sets[Int(set)].exact.push(entry)
    } else {
      state.pointee.sets[Int(set)].soft.push(entry)
      state.pointee.sets[Int(set)].hard.push(DueEntry(due: latest, key: key))
    }
    state.pointee.sleep.note(due: latest)
  }

  /// Takes a timer's entry out of the queue; its slot stays. The caller holds the lock.
  @inline(__always)
  func unqueue(_ timer: TrackedTimer) {
    guard timer.flags.contains(.queued) else { return }
    timer.flags.remove(.queued)
    let set = Int(state.pointee.slots[timer.slot].modeSet)
    state.pointee.slots[timer.slot].key = 0
    if timer.leeway == 0 {
      state.pointee.sets[set].exact.noteDead(state.pointee.slots)
    } else {
      state.pointee.sets[set].soft.noteDead(state.pointee.slots)
      state.pointee.sets[set].hard.noteDead(state.pointee.slots)
    }
  }

  /// Takes a timer out of the loop. The caller holds the lock, and releases what is returned after giving it back.
  @inline(__always)
  func removeEntirely(_ timer: TrackedTimer) -> Unmanaged<TrackedTimer>? {
    guard timer.slot >= 0 else { return nil }
    unqueue(timer)
    if !state.pointee.clockIsMonotonic { timer.keepClock(state.pointee.clock) }
    let reference = state.pointee.slots[timer.slot].timer
    count(timer, inSet: state.pointee.slots[timer.slot].modeSet, -1)
    state.pointee.slots.free(timer.slot)
    timer.slot = -1
    if timer.flags.contains(.firing) {
      timer.flags.insert(.owed)
      return nil
    }
    timer.home.store(TrackedTimer.Home.none, ordering: .releasing)
    return reference
  }

  private func addToAnotherMode(_ timer: TrackedTimer, mode: Int32) -> AddOutcome {
    if timer.status.load(ordering: .relaxed) != TrackedTimer.Status.valid { return .refused(.invalid) }
    // Removed during its own callback, and now added again.
    if timer.slot < 0 {
      timer.flags.remove(.owed)
      let outcome = place(timer, inSet: modeSet(single: mode))
      // `place` retained it for the slot; the reference that was owed is the one that the slot had before.
      if case .added = outcome { Unmanaged.passUnretained(timer).release() }
      return outcome
    }
    let present = state.pointee.sets[Int(state.pointee.slots[timer.slot].modeSet)].modes
    let wanted = Set(present).union(expand(mode)).sorted()
    if wanted == present { return .alreadyThere }
    move(timer, to: modeSet(wanted))
    return .added
  }

  /// Takes a timer out of `mode`. The caller releases what is returned.
  func remove(_ timer: TrackedTimer, mode: Int32) -> Unmanaged<TrackedTimer>? {
    withLock { () -> Unmanaged<TrackedTimer>? in
      guard timer.home.load(ordering: .relaxed) == bits, timer.slot >= 0 else { return nil }
      let present = state.pointee.sets[Int(state.pointee.slots[timer.slot].modeSet)].modes
      let left = Set(present).subtracting(expand(mode)).sorted()
      if left.isEmpty { return removeEntirely(timer) }
      if left != present { move(timer, to: modeSet(left)) }
      return nil
    }
  }

  /// Moves a timer to another set of modes. The caller holds the lock.
  func move(_ timer: TrackedTimer, to set: Int32) {
    let wasQueued = timer.flags.contains(.queued)
    unqueue(timer)
    count(timer, inSet: state.pointee.slots[timer.slot].modeSet, -1)
    count(timer, inSet: set, 1)
    state.pointee.slots[timer.slot].modeSet = set
    if wasQueued { push(timer, set: set) }
  }

  /// Gives a timer the fire date that somebody wants for it. The caller holds the lock.
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
    unqueue(timer)
    change()
    push(timer, set: state.pointee.slots[timer.slot].modeSet)
  }

  /// Gives a timer another tolerance without touching its phase. The caller holds the lock.
  func setLeeway(_ timer: TrackedTimer, _ leeway: Int64) {
    guard timer.slot >= 0, timer.flags.contains(.queued) else {
      timer.leeway = leeway
      return
    }
    unqueue(timer)
    timer.leeway = leeway
    push(timer, set: state.pointee.slots[timer.slot].modeSet)
  }

  /// Starts the numbering anew; once in 10^12 schedulings. The caller holds the lock.
  @inline(never)
  func renumber() {
    let slots = 0..<state.pointee.slots.upperBound
    let keys = slots.map { state.pointee.slots[Int32($0)].key }.filter { $0 != 0 }.sorted()
    for set in state.pointee.sets.indices {
      state.pointee.sets[set].exact.compact(state.pointee.slots)
      state.pointee.sets[set].soft.compact(state.pointee.slots)
      state.pointee.sets[set].hard.compact(state.pointee.slots)
    }
    var renamed: [UInt64: UInt64] = [:]
    for (rank, key) in keys.enumerated() {
      renamed[key] = DueKey.make(sequence: UInt64(rank + 1), slot: Int32(DueKey.slot(key)))
    }
    let rename = { (entry: DueEntry) in DueEntry(due: entry.due, key: renamed[entry.key] ?? entry.key) }
    for set in state.pointee.sets.indices {
      state.pointee.sets[set].exact.rewrite(rename)
      state.pointee.sets[set].soft.rewrite(rename)
      state.pointee.sets[set].hard.rewrite(rename)
    }
    state.pointee.deferred = state.pointee.deferred.map(rename)
    for slot in slots {
      if let key = renamed[state.pointee.slots[Int32(slot)].key] { state.pointee.slots[Int32(slot)].key = key }
    }
    state.pointee.sequence = UInt64(keys.count + 1)
    state.pointee.renumberings &+= 1
  }
}
