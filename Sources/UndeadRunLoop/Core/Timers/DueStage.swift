#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Entries that were not needed in order yet: most timeouts are cancelled before they are.
struct DueStage {
  private var base: UnsafeMutablePointer<DueEntry>?
  private(set) var count = 0
  private var capacity = 0
  /// The first of them, dead or alive; the latest entry there is if there are none.
  private(set) var first = DueEntry.latest

  var entries: UnsafeMutableBufferPointer<DueEntry> { UnsafeMutableBufferPointer(start: base, count: count) }

  @inline(__always)
  mutating func push(_ entry: DueEntry) {
    if count == capacity { grow() }
    base.unsafelyUnwrapped[count] = entry
    count &+= 1
    if entry < first { first = entry }
  }

  mutating func keepLive(_ slots: borrowing SlotTable) {
    guard let base else { return }
    var kept = 0
    var least = DueEntry.latest
    for index in 0..<count {
      let entry = base[index]
      guard slots.isLive(entry.key) else { continue }
      base[kept] = entry
      kept &+= 1
      if entry < least { least = entry }
    }
    count = kept
    first = least
  }

  /// Brings the entries up to `instant` to the front. Returns how many there are.
  mutating func partition(upTo instant: Int64) -> Int {
    guard let base, first.due <= instant else { return 0 }
    var due = 0
    for index in 0..<count where base[index].due <= instant {
      let entry = base[index]
      base[index] = base[due]
      base[due] = entry
      due &+= 1
    }
    return due
  }

  mutating func removeAll() {
    count = 0
    first = .latest
  }

  mutating func rewrite(_ transform: (DueEntry) -> DueEntry) {
    guard let base, count > 0 else { return }
    for index in 0..<count { base[index] = transform(base[index]) }
    first = transform(first)
  }

  mutating func deallocate() {
    base?.deallocate()
    self = DueStage()
  }

  @inline(never)
  private mutating func grow() {
    let larger = max(64, capacity * 2)
    let grown = UnsafeMutablePointer<DueEntry>.allocate(capacity: larger)
    if let base {
      grown.update(from: base, count: count)
      base.deallocate()
    }
    base = grown
    capacity = larger
  }
}
#endif
