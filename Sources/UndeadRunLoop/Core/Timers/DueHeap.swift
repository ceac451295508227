#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Entries in no particular order but for the first: a 4-ary implicit heap.
struct DueHeap {
  /// The four children of an entry share a cache line: the first entry stands at the end of one.
  private static let lead = 3
  private static let cacheLine = 64

  private var entries: UnsafeMutablePointer<DueEntry>?
  private(set) var count = 0
  private var capacity = 0

  @inline(__always)
  var first: DueEntry { entries.unsafelyUnwrapped[0] }

  @inline(__always)
  mutating func push(_ entry: DueEntry) {
    if count == capacity { grow() }
    let base = entries.unsafelyUnwrapped
    var index = count
    count &+= 1
    while index > 0 {
      let parent = (index &- 1) >> 2
      if !(entry < base[parent]) { break }
      base[index] = base[parent]
      index = parent
    }
    base[index] = entry
  }

  mutating func push(_ more: Slice<UnsafeMutableBufferPointer<DueEntry>>) {
    // Ordering all anew takes some two steps for each entry, pushing one as many as there are levels at worst.
    let isCheapToOrder = more.count > count / 2
    if !isCheapToOrder {
      for entry in more { push(entry) }
      return
    }
    while capacity < count + more.count { grow() }
    for entry in more {
      entries.unsafelyUnwrapped[count] = entry
      count &+= 1
    }
    restoreOrder()
  }

  @inline(__always)
  mutating func popTop() {
    count &-= 1
    if count > 0 { sink(entries.unsafelyUnwrapped[count], from: 0) }
  }

  mutating func keepLive(_ slots: borrowing SlotTable) {
    guard let base = entries else { return }
    var kept = 0
    for index in 0..<count where slots.isLive(base[index].key) {
      base[kept] = base[index]
      kept += 1
    }
    count = kept
    restoreOrder()
  }

  mutating func rewrite(_ transform: (DueEntry) -> DueEntry) {
    guard let base = entries else { return }
    for index in 0..<count { base[index] = transform(base[index]) }
    restoreOrder()
  }

  /// Moves all entries up to `instant` to an empty run if they are so many that sorting them costs less than taking the
  /// first one again and again.
  mutating func moveMany(upTo instant: Int64, to run: inout DueRun) {
    let fewest = 256
    let worthwhile = max(fewest, count / 4)
    var left = worthwhile
    countDue(from: 0, upTo: instant, &left)
    guard left == 0, let base = entries else { return }
    var due = 0
    for index in 0..<count where base[index].due <= instant { due += 1 }
    run.fill(due) { taken in
      var (kept, next) = (0, 0)
      for index in 0..<count {
        let entry = base[index]
        if entry.due <= instant {
          taken[next] = entry
          next &+= 1
        } else {
          base[kept] = entry
          kept &+= 1
        }
      }
    }
    count -= due
    restoreOrder()
  }

  /// Takes one off `left`, down to 0, for each entry up to `instant` below and at `index`.
  private func countDue(from index: Int, upTo instant: Int64, _ left: inout Int) {
    guard left > 0, index < count, entries.unsafelyUnwrapped[index].due <= instant else { return }
    left -= 1
    for child in (index << 2 + 1)...(index << 2 + 4) { countDue(from: child, upTo: instant, &left) }
  }

  mutating func deallocate() {
    release()
    self = DueHeap()
  }

  private func release() {
    if let entries { UnsafeMutableRawPointer(entries - Self.lead).deallocate() }
  }

  private mutating func restoreOrder() {
    guard count > 1, let base = entries else { return }
    for index in stride(from: (count - 2) >> 2, through: 0, by: -1) { sink(base[index], from: index) }
  }

  @inline(__always)
  private mutating func sink(_ entry: DueEntry, from start: Int) {
    let base = entries.unsafelyUnwrapped
    var index = start
    while true {
      let firstChild = index << 2 &+ 1
      if firstChild >= count { break }
      let least = Self.least(base, firstChild, min(firstChild &+ 4, count))
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
    let size = MemoryLayout<DueEntry>.stride
    let raw = UnsafeMutableRawPointer.allocate(byteCount: (larger + Self.lead) * size, alignment: Self.cacheLine)
    let grown = (raw + Self.lead * size).bindMemory(to: DueEntry.self, capacity: larger)
    if let entries { grown.update(from: entries, count: count) }
    release()
    entries = grown
    capacity = larger
  }
}
#endif
