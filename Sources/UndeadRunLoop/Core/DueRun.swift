/// Entries in ascending order, first in, first out.
struct DueRun {
  private var base: UnsafeMutablePointer<DueEntry>?
  private var head = 0
  private var end = 0
  private var capacity = 0

  @inline(__always)
  var count: Int { end &- head }

  /// The first entry of a run that is not empty.
  @inline(__always)
  var first: DueEntry { base.unsafelyUnwrapped[head] }

  /// Adds an entry that does not come before the last one. False if it does, and belongs elsewhere.
  @inline(__always)
  mutating func append(_ entry: DueEntry) -> Bool {
    if head != end, entry < base.unsafelyUnwrapped[end &- 1] { return false }
    if end == capacity { makeRoom() }
    base.unsafelyUnwrapped[end] = entry
    end &+= 1
    return true
  }

  @inline(__always)
  mutating func removeFirst() {
    head &+= 1
    if head == end {
      head = 0
      end = 0
    }
  }

  mutating func keepLive(_ slots: borrowing SlotTable) {
    guard let base else { return }
    var kept = 0
    for index in head..<end where slots.isLive(base[index].key) {
      base[kept] = base[index]
      kept += 1
    }
    head = 0
    end = kept
  }

  mutating func rewrite(_ transform: (DueEntry) -> DueEntry) {
    guard let base else { return }
    for index in head..<end { base[index] = transform(base[index]) }
  }

  mutating func deallocate() {
    base?.deallocate()
    self = DueRun()
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
