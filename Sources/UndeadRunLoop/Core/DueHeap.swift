/// What the queue knows of a scheduled timer: 16 bytes, so that sifting never touches the timer itself.
///
/// The date and the key are one number, so that comparing two entries needs no branch. `key` is
/// `sequence << 24 | slot`: it gives the order of equal dates (first scheduled, first fired), the timer, and whether this
/// entry is still the valid one.
struct DueEntry {
  private let packed: UInt128

  private static let signBit = UInt64(1) << 63

  @inline(__always)
  init(due: Int64, key: UInt64) {
    packed = UInt128(UInt64(bitPattern: due) ^ Self.signBit) << 64 | UInt128(key)
  }

  @inline(__always)
  var due: Int64 { Int64(bitPattern: UInt64(truncatingIfNeeded: packed >> 64) ^ Self.signBit) }

  @inline(__always)
  var key: UInt64 { UInt64(truncatingIfNeeded: packed) }

  @inline(__always)
  static func < (left: DueEntry, right: DueEntry) -> Bool { left.packed < right.packed }
}

/// Packs and unpacks `DueEntry.key`.
enum DueKey {
  static let slotBits: UInt64 = 24
  static let slotMask: UInt64 = 1 << slotBits - 1
  /// Sequence numbers at and above this one do not fit; the queue renumbers before it gets there.
  static let sequenceLimit: UInt64 = 1 << (64 - slotBits)
  /// How many slots there may be.
  static let slotCapacity = Int(slotMask)
  /// How many timers are accepted; those that are on their way must have room, too.
  static let slotLimit = slotCapacity - Inbox.capacity

  @inline(__always)
  static func make(sequence: UInt64, slot: Int32) -> UInt64 {
    sequence << slotBits | UInt64(UInt32(bitPattern: slot))
  }

  @inline(__always)
  static func slot(_ key: UInt64) -> Int { Int(key & slotMask) }
}

/// The entries of a queue, with lazy deletion: an entry is dead when its slot no longer carries its key.
///
/// Two parts: a run of entries that came in ascending order, first in, first out, and a 4-ary implicit heap of those that
/// did not. Timers with one interval, as most timeouts are, go through the run and never cost a logarithm.
struct DueHeap {
  private var entries: UnsafeMutablePointer<DueEntry>?
  private var heapCount = 0
  private var capacity = 0
  private var run = DueRun()
  /// Dead entries that are still in one of the parts.
  var dead = 0

  /// Below this many dead entries compaction is not worth its constant cost.
  private static let compactionThreshold = 512

  @inline(__always)
  var count: Int { heapCount &+ run.count }

  /// The top of a queue that is not empty.
  @inline(__always)
  var first: DueEntry { isRunFirst ? run.first : entries.unsafelyUnwrapped[0] }

  /// Whether the run has the top of a queue that is not empty.
  @inline(__always)
  private var isRunFirst: Bool {
    run.count > 0 && (heapCount == 0 || run.first < entries.unsafelyUnwrapped[0])
  }

  /// Whether there is a top that comes before `entry`.
  @inline(__always)
  func isTop(before entry: DueEntry) -> Bool { count > 0 && first < entry }

  @inline(__always)
  var top: DueEntry? { count > 0 ? first : nil }

  @inline(__always)
  mutating func push(_ entry: DueEntry) {
    if !run.append(entry) { pushOnHeap(entry) }
  }

  @inline(__always)
  private mutating func pushOnHeap(_ entry: DueEntry) {
    if heapCount == capacity { grow() }
    let base = entries.unsafelyUnwrapped
    var index = heapCount
    heapCount &+= 1
    while index > 0 {
      let parent = (index &- 1) >> 2
      if !(entry < base[parent]) { break }
      base[index] = base[parent]
      index = parent
    }
    base[index] = entry
  }

  @inline(__always)
  mutating func popTop() {
    if isRunFirst { return run.removeFirst() }
    heapCount &-= 1
    if heapCount > 0 { sink(entries.unsafelyUnwrapped[heapCount], from: 0) }
  }

  /// Drops dead entries from the top, so that the top tells when there is work.
  @inline(__always)
  mutating func clean(_ slots: borrowing SlotTable) {
    while dead > 0, count > 0, !slots.isLive(first.key) {
      dead &-= 1
      popTop()
    }
  }

  /// Counts one more dead entry, and compacts when most are dead: amortised O(1) for each deletion.
  @inline(__always)
  mutating func noteDead(_ slots: borrowing SlotTable) {
    dead &+= 1
    if dead > Self.compactionThreshold, dead &* 2 > count { compact(slots) }
  }

  @inline(never)
  mutating func compact(_ slots: borrowing SlotTable) {
    dead = 0
    run.keepLive(slots)
    guard let base = entries else { return }
    var kept = 0
    for index in 0..<heapCount where slots.isLive(base[index].key) {
      base[kept] = base[index]
      kept += 1
    }
    heapCount = kept
    restoreOrder()
  }

  /// Replaces every entry by what `transform` makes of it, which leaves their order as it is.
  mutating func rewrite(_ transform: (DueEntry) -> DueEntry) {
    run.rewrite(transform)
    guard let base = entries else { return }
    for index in 0..<heapCount { base[index] = transform(base[index]) }
    restoreOrder()
  }

  mutating func deallocate() {
    entries?.deallocate()
    run.deallocate()
    self = DueHeap()
  }

  private mutating func restoreOrder() {
    guard heapCount > 1, let base = entries else { return }
    for index in stride(from: (heapCount - 2) >> 2, through: 0, by: -1) { sink(base[index], from: index) }
  }

  @inline(__always)
  private mutating func sink(_ entry: DueEntry, from start: Int) {
    let base = entries.unsafelyUnwrapped
    var index = start
    while true {
      let firstChild = index << 2 &+ 1
      if firstChild >= heapCount { break }
      let least = Self.least(base, firstChild, min(firstChild &+ 4, heapCount))
      if !(base[least] < entry) { break }
      base[index] = base[least]
      index = least
    }
    base[index] = entry
  }

  /// The index of the least of up to four children; without branches when there are four, because they would be guesses.
  @inline(__always)
  private static func least(_ base: UnsafeMutablePointer<DueEntry>, _ first: Int, _ end: Int) -> Int {
    if end &- first == 4 {
      let left = base[first &+ 1] < base[first] ? first &+ 1 : first
      let right = base[first &+ 3] < base[first &+ 2] ? first &+ 3 : first &+ 2
      return base[right] < base[left] ? right : left
    }
    var least = first
    var child = first &+ 1
    while child < end {
      if base[child] < base[least] { least = child }
      child &+= 1
    }
    return least
  }

  @inline(never)
  private mutating func grow() {
    let larger = max(64, capacity * 2)
    let grown = UnsafeMutablePointer<DueEntry>.allocate(capacity: larger)
    if let entries {
      grown.update(from: entries, count: heapCount)
      entries.deallocate()
    }
    entries = grown
    capacity = larger
  }
}
