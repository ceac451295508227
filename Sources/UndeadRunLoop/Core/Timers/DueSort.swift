#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Sorts many entries by their dates, then by their keys: by the digits of the dates, in linear time.
enum DueSort {
  private static let digitBits = 11
  private static let digits = 1 << digitBits
  /// Fewer are not worth the tables.
  private static let fewest = 512

  static func sort(_ entries: UnsafeMutableBufferPointer<DueEntry>) {
    guard entries.count >= fewest else { return sortByComparing(entries) }
    var earliest = Int64.max
    var latest = Int64.min
    for entry in entries {
      earliest = min(earliest, entry.due)
      latest = max(latest, entry.due)
    }
    // The difference of two 64-bit numbers fits when it has no sign.
    let span = UInt64(bitPattern: latest &- earliest)
    let passes = (64 - span.leadingZeroBitCount + digitBits - 1) / digitBits
    withUnsafeTemporaryAllocation(of: Int.self, capacity: digits) { counts in
      let scratch = UnsafeMutableBufferPointer<DueEntry>.allocate(capacity: entries.count)
      defer { scratch.deallocate() }
      var (from, to) = (entries, scratch)
      for pass in 0..<passes {
        distribute(
          from, to, by: { Int((UInt64(bitPattern: $0 &- earliest) >> UInt64(pass * digitBits)) & UInt64(digits - 1)) },
          counts)
        swap(&from, &to)
      }
      if passes % 2 == 1 { _ = entries.update(fromContentsOf: scratch) }
    }
    orderEqualDates(entries)
  }

  /// Moves the entries in the order of a digit of their dates; those with equal digits stay in their order.
  @inline(__always)
  private static func distribute(
    _ from: UnsafeMutableBufferPointer<DueEntry>, _ to: UnsafeMutableBufferPointer<DueEntry>, by digit: (Int64) -> Int,
    _ counts: UnsafeMutableBufferPointer<Int>
  ) {
    counts.update(repeating: 0)
    for entry in from { counts[digit(entry.due)] &+= 1 }
    var place = 0
    for index in counts.indices {
      let count = counts[index]
      counts[index] = place
      place &+= count
    }
    for entry in from {
      let index = digit(entry.due)
      to[counts[index]] = entry
      counts[index] &+= 1
    }
  }

  private static func orderEqualDates(_ entries: UnsafeMutableBufferPointer<DueEntry>) {
    var start = 0
    while start < entries.count {
      var end = start + 1
      while end < entries.count, entries[end].due == entries[start].due { end += 1 }
      if end - start > 1 { sortByComparing(UnsafeMutableBufferPointer(rebasing: entries[start..<end])) }
      start = end
    }
  }

  private static func sortByComparing(_ entries: UnsafeMutableBufferPointer<DueEntry>) {
    var entries = entries
    entries.sort { $0 < $1 }
  }
}
#endif
