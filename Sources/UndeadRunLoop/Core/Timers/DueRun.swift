#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Entries in ascending order, first in, first out.
struct DueRun {
  private var base: UnsafeMutablePointer<DueEntry>?
  private var head = 0
  private var end = 0
  private var capacity = 0
  /// The last entry; the earliest there is if the run is empty.
  private(set) var last = DueEntry.earliest

  @inline(__always)
  var count: Int { end &- head }

  @inline(__always)
  var first: DueEntry { base.unsafelyUnwrapped[head] }

  /// The entry that comes `distance` after the first, nil if there is none.
  @inline(__always)
  func ahead(_ distance: Int) -> DueEntry? { distance < count ? base.unsafelyUnwrapped[head &+ distance] : nil }

  /// Adds an entry that does not come before the last one.
  @inline(__always)
  mutating func append(_ entry: DueEntry) {
    if end == capacity { makeRoom() }
    base.unsafelyUnwrapped[end] = entry
    end &+= 1
    last = entry
  }

  @inline(__always)
  mutating func removeFirst() {
    head &+= 1
    if head == end { forget() }
  }

  mutating func keepLive(_ slots: borrowing SlotTable) {
    guard let base else { return }
    var kept = 0
    for index in head..<end where slots.isLive(base[index].key) {
      base[kept] = base[index]
      kept += 1
    }
    forget()
    if kept > 0 { last = base[kept - 1] }
    end = kept
  }

  mutating func rewrite(_ transform: (DueEntry) -> DueEntry) {
    guard let base, count > 0 else { return }
    for index in head..<end { base[index] = transform(base[index]) }
    last = base[end - 1]
  }

  /// Fills an empty run with `count` entries that `body` writes in any order, and sorts them.
  mutating func fill(_ count: Int, _ body: (UnsafeMutableBufferPointer<DueEntry>) -> Void) {
    precondition(self.count == 0)
    if count == 0 { return }
    if capacity < count {
      base?.deallocate()
      base = .allocate(capacity: count)
      capacity = count
    }
    let entries = UnsafeMutableBufferPointer(start: base, count: count)
    body(entries)
    DueSort.sort(entries)
    end = count
    last = entries[count - 1]
  }

  mutating func deallocate() {
    base?.deallocate()
    self = DueRun()
  }

  @inline(__always)
  private mutating func forget() {
    head = 0
    end = 0
    last = .earliest
  }

  /// Moves the entries to the beginning if that frees half of the memory, so that each is moved at most once; else grows.
  @inline(never)
  private mutating func makeRoom() {
    let count = count
    let isHalfFree = head > 0 && count <= capacity / 2
    let larger = isHalfFree ? capacity : max(64, capacity * 2)
    let target = isHalfFree ? base.unsafelyUnwrapped : UnsafeMutablePointer<DueEntry>.allocate(capacity: larger)
    if let base {
      target.update(from: base + head, count: count)
      if !isHalfFree { base.deallocate() }
    }
    base = target
    capacity = larger
    head = 0
    end = count
  }
}
#endif
