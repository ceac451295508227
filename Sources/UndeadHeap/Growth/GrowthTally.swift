import UndeadReport

/// Counts of two heaps by a number that both share.
package struct GrowthTally {
  package private(set) var before: [HeapAmount]
  package private(set) var after: [HeapAmount]

  private init(count: Int) {
    before = Array(repeating: .init(), count: count)
    after = before
  }

  /// Counts all blocks by type, and those that are no part of others by type and place.
  package static func count(
    _ old: GrowthSide, _ new: GrowthSide, _ names: GrowthNames
  ) -> (byType: GrowthTally, byKey: GrowthTally) {
    var byType = GrowthTally(count: names.types.count)
    var byKey = GrowthTally(count: names.keys.count)
    for (side, isAfter) in [(old, false), (new, true)] {
      for block in 0..<side.heap.graph.count {
        let size = side.heap.graph.size(block)
        byType.add(Int(side.types[block]), bytes: size, counts: true, isAfter: isAfter)
        byKey.add(Int(side.keys[block]), bytes: size, counts: side.isCounted[block], isAfter: isAfter)
      }
    }
    return (byType, byKey)
  }

  private mutating func add(_ number: Int, bytes: UInt64, counts: Bool, isAfter: Bool) {
    if isAfter {
      after[number].add(bytes, counts)
    } else {
      before[number].add(bytes, counts)
    }
  }

  package func count(_ number: Int) -> Int { after[number].count.minus(before[number].count) }
  package func bytes(_ number: Int) -> Int { after[number].bytes.minus(before[number].bytes) }
}

extension HeapAmount {
  fileprivate mutating func add(_ size: UInt64, _ counts: Bool) {
    bytes.addSaturating(UInt64(size))
    if counts { count += 1 }
  }
}

/// Which types in which places grew of themselves, and not because they hang off something else that grew.
package struct GrowthEntries {
  /// By key: true for those that are shown.
  private(set) var isEntry: [Bool]
  /// By key: true for those that grew because what they hang off did.
  private(set) var comesAlong: [Bool]

  private struct Pair: Hashable {
    var inner: UInt32
    var outer: UInt32
  }

  private static let none = UInt32.max
  /// So many objects of a type may come with each one of the type that keeps them, where there were none before.
  private static let mostPerOwner = 16
  /// So far below a root a circle is looked for.
  private static let circleDepth = 16

  package init(_ names: GrowthNames, _ tally: GrowthTally, before: GrowthSide, after: GrowthSide) {
    let grows = names.keys.indices.map { key in
      guard names.types[Int(names.keys[key].type)].type != FoundationTypes.box else { return false }
      let isStorage = names.storage[Int(names.keys[key].type)] != nil
      return tally.count(key) > 0 || (isStorage && tally.bytes(key) > 0)
    }
    let old = Self.pairs(before, grows)
    let new = Self.pairs(after, grows)
    var explained = [Int](repeating: 0, count: grows.count)
    var explaining: [Pair] = []
    for (pair, amount) in new {
      let (inner, outer) = (Int(pair.inner), Int(pair.outer))
      let isByCount = tally.count(inner) > 0
      let now = isByCount ? amount.count : amount.bytes
      let past = old[pair].map { isByCount ? $0.count : $0.bytes } ?? 0
      let owners = (before: tally.before[outer].count, after: tally.after[outer].count)
      // Storage that became larger explains what lies in it no more than the other way round.
      guard owners.after > owners.before else { continue }
      let expected = Self.expected(past, owners, isByCount: isByCount, now: now)
      let part = max(0, min(now - past, expected - past))
      explained[inner] += part
      if part > 0 { explaining.append(pair) }
    }
    var isEntry = grows.indices.map { key in
      guard grows[key] else { return false }
      let growth = tally.count(key) > 0 ? tally.count(key) : tally.bytes(key)
      return explained[key] * 2 <= growth
    }
    for key in Self.tops(grows, isEntry, explaining, names, before, after) { isEntry[key] = true }
    self.isEntry = isEntry
    comesAlong = grows.indices.map { grows[$0] && !isEntry[$0] }
  }

  /// Types that hang off each other in a circle, as in a tree, explain each other's growth, and no entry explains it. Of
  /// these, what grew on top: below the fewest objects of any of them.
  private static func tops(
    _ grows: [Bool], _ isEntry: [Bool], _ explaining: [Pair], _ names: GrowthNames, _ before: GrowthSide,
    _ after: GrowthSide
  ) -> [Int] {
    var isFounded = isEntry
    var isDone = false
    while !isDone {
      isDone = true
      for pair in explaining where isFounded[Int(pair.outer)] && !isFounded[Int(pair.inner)] {
        isFounded[Int(pair.inner)] = true
        isDone = false
      }
    }
    let isCircular = grows.indices.map { key in
      grows[key] && !isFounded[key] && names.storage[Int(names.keys[key].type)] == nil
    }
    guard isCircular.contains(true) else { return [] }
    var growth = Array(repeating: [Int](repeating: 0, count: grows.count), count: circleDepth)
    for (side, sign) in [(before, -1), (after, 1)] {
      let depth = UnsafeMutableBufferPointer<Int32>.filled(side.heap.graph.count, with: 0)
      defer { depth.deallocate() }
      side.visit { block in
        if let above = side.dominator(block) {
          depth[block] = depth[above] + (isCircular[Int(side.keys[above])] ? 1 : 0)
        }
        let key = Int(side.keys[block])
        guard isCircular[key], side.isCounted[block], depth[block] < circleDepth else { return }
        growth[Int(depth[block])][key] += sign
      }
    }
    // The root itself is there only once, before and after.
    let top = growth.first { $0.contains { $0 > 0 } } ?? []
    return top.indices.filter { top[$0] > 0 }
  }

  private static func expected(_ past: Int, _ owners: (before: Int, after: Int), isByCount: Bool, now: Int) -> Int {
    let added = owners.after - owners.before
    if owners.before > 0, past > 0 {
      let (product, overflow) = past.multipliedReportingOverflow(by: owners.after)
      // Twice as much for each owner is no other growth yet.
      return overflow ? .max : product / owners.before + product / owners.before / 2
    }
    // A few owners do not explain a mass; many do.
    return added >= mostPerOwner || !isByCount ? now : past + added * mostPerOwner
  }

  /// How much of each key lies below the nearest block of another key that grows.
  private static func pairs(_ side: GrowthSide, _ grows: [Bool]) -> [Pair: HeapAmount] {
    let outer = UnsafeMutableBufferPointer<UInt32>.filled(side.heap.graph.count, with: none)
    defer { outer.deallocate() }
    var pairs: [Pair: HeapAmount] = [:]
    side.visit { block in
      guard let above = side.dominator(block) else { return }
      let (key, aboveKey) = (side.keys[block], side.keys[above])
      outer[block] = aboveKey != key && grows[Int(aboveKey)] ? aboveKey : outer[above]
      guard grows[Int(key)], outer[block] != none, outer[block] != key else { return }
      pairs[Pair(inner: key, outer: outer[block]), default: .init()].add(
        side.heap.graph.size(block), side.isCounted[block])
    }
    return pairs
  }
}
