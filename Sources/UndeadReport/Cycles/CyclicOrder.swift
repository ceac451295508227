/// Where to start a sequence that has no start of its own, such as the steps of a cycle.
enum CyclicOrder {
  /// Start of the lexicographically least rotation, in linear time.
  static func leastRotation<Key: Equatable>(_ keys: [Key], by precedes: (Key, Key) -> Bool) -> Int {
    let count = keys.count
    var (a, b, length) = (0, 1, 0)
    while a < count, b < count, length < count {
      let (left, right) = (keys[(a + length) % count], keys[(b + length) % count])
      if left == right {
        length += 1
        continue
      }
      if precedes(right, left) { a += length + 1 } else { b += length + 1 }
      if a == b { b += 1 }
      length = 0
    }
    return min(a, b)
  }

  /// The fewest steps by which a cyclic sequence can be rotated without a change; its length if it has no pattern.
  static func period<Key: Equatable>(_ keys: [Key]) -> Int {
    // The longest start that is also an end, for each start (Knuth, Morris and Pratt).
    var border = [Int32](repeating: 0, count: keys.count)
    var length = 0
    for position in keys.indices.dropFirst() {
      while length > 0, keys[position] != keys[length] { length = Int(border[length - 1]) }
      if keys[position] == keys[length] { length += 1 }
      border[position] = Int32(length)
    }
    let period = keys.count - length
    return keys.count.isMultiple(of: period) ? period : keys.count
  }

  /// Start of the rotation that is least by `keys`; where several are, least of these by `details`.
  static func leastRotation<Key: Equatable>(
    _ keys: [Key], by precedes: (Key, Key) -> Bool, then details: [StableHash]
  ) -> Int {
    let start = leastRotation(keys, by: precedes)
    let period = period(keys)
    guard period < keys.count else { return start }
    let parts = stride(from: start, to: start + keys.count, by: period).map { first in
      var hash = StableHash()
      for step in first..<(first + period) { hash.mix(details[step % keys.count]) }
      return hash
    }
    return (start + period * leastRotation(parts, by: <)) % keys.count
  }
}
