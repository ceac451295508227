#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

/// The timers of a loop: who is in which modes, and who is due next. It knows nothing of the loop, whose lock guards it.
///
/// A timer's entry in the queue is valid as long as its slot carries the same key, so that removal is O(1) and the entry is
/// dropped when it comes to the top.
struct TimerQueue: ~Copyable {
  private var slots = SlotTable()
  private var sets = InPlaceList<ModeSet>()
  /// Numbers every scheduling; it goes on when the memory is reused, so old keys never fit again.
  var sequence: UInt64 = 1
  /// How often the numbering started anew.
  private(set) var renumberings = 0
  /// The set that the last timer with a single mode was added to.
  private var lastSingle: (mode: Int32, set: Int32) = (-1, 0)
  /// Indices of the sets that contain `servedMode`; recomputed when a set or the mode changes.
  private var servedSets = InPlaceList<Int>()
  private var servedMode: Int32 = -1

  /// Timers with a shorter interval, in nanoseconds, would feel the gap between two wake-ups.
  static let urgentPeriod: Int64 = 1_200_000

  /// How many timers there are, those that are firing included.
  var count: Int { slots.used }
  @inline(__always)
  var isFull: Bool { slots.used >= DueKey.slotLimit }

  // MARK: Timers

  /// Gives a timer a slot in a set of modes; it is not queued yet. The caller knows that there is room.
  ///
  /// - Parameter reference: the timer, retained for the slot.
  @inline(__always)
  mutating func insert(_ timer: TrackedTimer, _ reference: Unmanaged<TrackedTimer>, set: Int32) {
    guard let slot = slots.take(reference, set: set) else {
      preconditionFailure("no slot for a timer that was accepted")
    }
    timer.slot = slot
    count(timer, inSet: set, 1)
  }

  /// Takes a timer out. The caller releases the reference that the slot had.
  @inline(__always)
  mutating func remove(_ timer: TrackedTimer) -> Unmanaged<TrackedTimer> {
    unqueue(timer)
    let reference = slots.timer(used: timer.slot)
    count(timer, inSet: slots.set(timer.slot), -1)
    slots.free(timer.slot)
    timer.slot = -1
    if slots.isEmptyAndLarge { shrink() }
    return reference
  }

  /// Without timers every entry is dead.
  @inline(never)
  private mutating func shrink() {
    releaseMemory()
    slots.deallocate()
  }

  var capacity: Int { Int(slots.upperBound) }

  /// Queues a timer that is not queued, behind those with the same date.
  @inline(__always)
  mutating func queue(_ timer: TrackedTimer) {
    if sequence >= DueKey.sequenceLimit - 1 { renumber() }
    let key = DueKey.make(sequence: sequence, slot: timer.slot)
    sequence &+= 1
    slots.setKey(key)
    timer.flags.insert(.queued)
    let entry = DueEntry(due: timer.due, key: key)
    let set = Int(slots.set(timer.slot))
    if timer.leeway == 0 {
      sets[set].exact.push(entry)
    } else {
      sets[set].soft.push(entry)
      sets[set].hard.push(DueEntry(due: timer.latest, key: key))
    }
  }

  /// Takes a timer's entry out of the queue; its slot stays.
  @inline(__always)
  mutating func unqueue(_ timer: TrackedTimer) {
    guard timer.flags.contains(.queued) else { return }
    timer.flags.remove(.queued)
    let set = Int(slots.set(timer.slot))
    slots.removeKey(timer.slot)
    if timer.leeway == 0 {
      sets[set].exact.noteDead(slots)
    } else {
      sets[set].soft.noteDead(slots)
      sets[set].hard.noteDead(slots)
    }
  }

  mutating func move(_ timer: TrackedTimer, to set: Int32) {
    let wasQueued = timer.flags.contains(.queued)
    unqueue(timer)
    count(timer, inSet: slots.set(timer.slot), -1)
    count(timer, inSet: set, 1)
    slots.setSet(timer.slot, set)
    if wasQueued { queue(timer) }
  }

  /// Counts a timer in a set of modes, or out of it.
  @inline(__always)
  private func count(_ timer: TrackedTimer, inSet set: Int32, _ change: Int) {
    sets[Int(set)].timers &+= change
    if timer.period < Self.urgentPeriod { sets[Int(set)].urgent &+= change }
  }

  /// Calls `body` with every timer, in no order, until it returns false.
  func visit(_ body: (TrackedTimer) -> Bool) {
    for slot in 0..<slots.upperBound {
      guard let reference = slots.timer(slot) else { continue }
      if !reference._withUnsafeGuaranteedRef(body) { return }
    }
  }

  var all: [TrackedTimer] {
    var all: [TrackedTimer] = []
    visit {
      all.append($0)
      return true
    }
    return all
  }

  // MARK: What is due

  /// Makes what is due at `instant` in `mode` ready: `next` takes it from there, and nothing that is queued later.
  mutating func collect(mode: Int32, at instant: Int64) {
    serve(mode)
    for index in servedSets.indices {
      let set = servedSets[index]
      sets[set].exact.collect(upTo: instant, slots)
      if sets[set].soft.count > 0 { sets[set].soft.collect(upTo: instant, slots) }
    }
  }

  /// Takes the first ready timer of `mode` out of the queue: it is firing now.
  @inline(__always)
  mutating func next(mode: Int32) -> Unmanaged<TrackedTimer>? {
    if servedMode != mode { serve(mode) }
    var best = DueEntry(due: .max, key: .max)
    var bestSet = -1
    var isSoft = false
    for index in 0..<servedSets.count {
      let set = servedSets[index]
      if let entry = sets[set].exact.firstReady(slots), entry < best {
        best = entry
        bestSet = set
        isSoft = false
      }
      if sets[set].soft.count > 0, let entry = sets[set].soft.firstReady(slots), entry < best {
        best = entry
        bestSet = set
        isSoft = true
      }
    }
    if bestSet < 0 { return nil }
    let slot = Int32(DueKey.slot(best.key))
    slots.removeKey(slot)
    if isSoft {
      sets[bestSet].soft.removeFirstReady()
      sets[bestSet].hard.noteDead(slots)
    } else {
      sets[bestSet].exact.removeFirstReady()
      prefetch(sets[bestSet].exact)
    }
    let reference = slots.timer(used: slot)
    reference._withUnsafeGuaranteedRef { timer in
      timer.flags.remove(.queued)
      timer.flags.insert(.firing)
    }
    return reference
  }

  /// Loads a timer that will fire soon: they lie anywhere in memory.
  @inline(__always)
  private func prefetch(_ queue: borrowing DueQueue) {
    let distance = 8
    if let entry = queue.ready(ahead: distance) { undead_loop_prefetch(slots.address(Int32(DueKey.slot(entry.key)))) }
  }

  /// When the loop must wake for a timer of `mode`: as late as tolerances allow. `Int64.max` if there is none.
  mutating func nextWake(mode: Int32) -> Int64 {
    serve(mode)
    var wake = Int64.max
    for index in servedSets.indices {
      let set = servedSets[index]
      if let entry = sets[set].exact.first(slots) { wake = min(wake, entry.due) }
      if let entry = sets[set].hard.first(slots) { wake = min(wake, entry.due) }
      // Its pass has begun.
      if let entry = sets[set].soft.firstReady(slots) { wake = min(wake, entry.due) }
    }
    return wake
  }

  /// The earliest date of a timer of `mode`, or nil.
  mutating func nextDue(mode: Int32) -> Int64? {
    serve(mode)
    var due: Int64?
    for index in servedSets.indices {
      let set = servedSets[index]
      if let entry = sets[set].exact.first(slots) { due = min(due ?? .max, entry.due) }
      if let entry = sets[set].soft.first(slots) { due = min(due ?? .max, entry.due) }
    }
    return due
  }

  /// Whether a timer of `mode` has an interval that is not many times the gap between two wake-ups.
  mutating func hasUrgent(in mode: Int32) -> Bool {
    serve(mode)
    return servedSets.contains { sets[$0].urgent > 0 }
  }

  /// Whether a run in `mode` would have a timer to wait for.
  func hasTimers(in mode: Int32) -> Bool { sets.contains { $0.timers > 0 && $0.contains(mode) } }

  /// Starts the numbering anew; once in 10^12 schedulings.
  @inline(never)
  private mutating func renumber() {
    let keys = (0..<slots.upperBound).compactMap { slots.key($0) }.sorted()
    for set in sets.indices { sets[set].compact(slots) }
    var renamed: [UInt64: UInt64] = [:]
    for (rank, key) in keys.enumerated() {
      renamed[key] = DueKey.make(sequence: UInt64(rank + 1), slot: Int32(DueKey.slot(key)))
    }
    for set in sets.indices {
      sets[set].rewrite { DueEntry(due: $0.due, key: renamed[$0.key] ?? $0.key) }
    }
    for key in renamed.values { slots.setKey(key) }
    sequence = UInt64(keys.count + 1)
    renumberings &+= 1
  }

  // MARK: Sets of modes

  /// Gives up memory that a queue without timers does not need.
  mutating func releaseMemory() {
    for set in sets.indices { sets[set].deallocate() }
  }

  /// Makes the first sets, for a queue without timers.
  mutating func prepare(_ firstSets: [[Int32]]) {
    releaseMemory()
    sets.removeAll()
    for modes in firstSets { sets.append(ModeSet(modes: modes)) }
    predefinedSets = firstSets.count
    lastSingle = (-1, 0)
    servedMode = -1
  }

  private var predefinedSets = 0

  /// The index of the set with exactly these modes, made if need be.
  mutating func set(_ modes: [Int32]) -> Int32 {
    if let known = sets.firstIndex(where: { $0.modes == modes }) { return Int32(known) }
    servedMode = -1
    lastSingle = (-1, 0)
    let unused = sets.indices.dropFirst(predefinedSets).first { sets[$0].timers == 0 }
    if let unused {
      sets[unused].deallocate()
      sets[unused] = ModeSet(modes: modes)
      return Int32(unused)
    }
    precondition(sets.count < SlotTable.setLimit, "a loop has timers in more than 16 million sets of modes")
    sets.append(ModeSet(modes: modes))
    return Int32(sets.count - 1)
  }

  /// The set for a timer that is only in `mode`.
  ///
  /// - Parameter expand: says which modes that means.
  @inline(__always)
  mutating func set(single mode: Int32, expand: (Int32) -> [Int32]) -> Int32 {
    if lastSingle.mode == mode { return lastSingle.set }
    let set = set(expand(mode))
    lastSingle = (mode, set)
    return set
  }

  /// The modes of a timer that is here, in ascending order.
  func modes(of timer: TrackedTimer) -> [Int32] { sets[Int(slots.set(timer.slot))].modes }

  /// Whatever is in the common modes is in `mode` too, which is common from now on.
  mutating func addCommonMode(_ mode: Int32) {
    lastSingle = (-1, 0)
    for index in sets.indices {
      let modes = sets[index].modes
      guard modes.contains(ModeTable.commonMode), !modes.contains(mode) else { continue }
      let widened = (modes + [mode]).sorted()
      if let other = sets.firstIndex(where: { $0.modes == widened }) {
        moveAll(from: Int32(index), to: Int32(other))
      } else {
        sets[index].modes = widened
      }
    }
    servedMode = -1
  }

  private mutating func moveAll(from: Int32, to: Int32) {
    for slot in 0..<slots.upperBound {
      guard let timer = slots.timer(slot), slots.set(slot) == from else { continue }
      timer._withUnsafeGuaranteedRef { move($0, to: to) }
    }
  }

  /// Makes `servedSets` those that `mode` serves.
  private mutating func serve(_ mode: Int32) {
    if servedMode == mode { return }
    servedMode = mode
    servedSets.removeAll()
    for index in sets.indices where sets[index].contains(mode) { servedSets.append(index) }
  }

  // MARK: For those who look at it

  /// The modes of each set that has timers, and how many.
  var population: [(modes: [Int32], timers: Int)] {
    sets.indices.filter { sets[$0].timers > 0 }.map { (sets[$0].modes, sets[$0].timers) }
  }

  var setCount: Int { sets.count }

  /// Calls `body` with each set whose modes do not run in `mode`, until it says that this starvation was reported.
  func visitStarving(in mode: Int32, _ body: (_ modes: [Int32], _ visitTimers: Visit) -> Bool) {
    for index in sets.indices {
      if sets[index].contains(mode) {
        sets[index].starvationReported = false
      } else if sets[index].timers > 0, !sets[index].starvationReported {
        let isReported = body(sets[index].modes) { look in
          visit { slots.set($0.slot) == Int32(index) ? look($0) : true }
        }
        sets[index].starvationReported = isReported
      }
    }
  }

  /// Calls its argument with timers until that returns false.
  typealias Visit = ((TrackedTimer) -> Bool) -> Void
}

extension TrackedTimer {
  /// After this instant it is late.
  @inline(__always)
  var latest: Int64 { Instants.add(due, leeway) }
}
#endif
