#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// The timers of one distinct set of modes. One queue for each set: timers whose modes do not run, however overdue,
/// are never looked at by those that do.
struct ModeSet {
  /// Modes in ascending order.
  var modes: [Int32]
  /// Timers that want to be exact.
  var exact = DueQueue()
  /// Timers with tolerance: by the date before which they must not fire...
  var soft = DueQueue()
  /// ...and by the date after which they are late.
  var hard = DueQueue()
  /// Timers in this set, those that are firing included.
  var timers = 0
  /// Those of them that the gap between two wake-ups would cost ticks.
  var urgent = 0
  /// The starvation that lasts was reported.
  var starvationReported = false

  init(modes: [Int32]) { self.modes = modes }

  func contains(_ mode: Int32) -> Bool { modes.contains(mode) }

  mutating func rewrite(_ transform: (DueEntry) -> DueEntry) {
    exact.rewrite(transform)
    soft.rewrite(transform)
    hard.rewrite(transform)
  }

  mutating func compact(_ slots: borrowing SlotTable) {
    exact.compact(slots)
    soft.compact(slots)
    hard.compact(slots)
  }

  mutating func deallocate() {
    exact.deallocate()
    soft.deallocate()
    hard.deallocate()
    timers = 0
    urgent = 0
  }
}
#endif
