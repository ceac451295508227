/// What belongs to the groups of what grew, on both sides.
package struct GrowthTotals {
  package private(set) var bytes: [(before: Int, after: Int)]
  package private(set) var elements: [(before: Int, after: Int)]
  /// Blocks by group, in the upper half, and type.
  package private(set) var types: [UInt64: (before: HeapAmount, after: HeapAmount)] = [:]
  /// What came and went, by key.
  package private(set) var turnover: [UInt32: (came: Int, went: Int)] = [:]
  /// A block of each key, rather one that came.
  package private(set) var examples: [UInt32: (block: Int, came: Bool)] = [:]
  private let groups: GrowthGroups
  private let pairing: HeapPairing?

  package init(_ old: GrowthSide, _ new: GrowthSide, _ groups: GrowthGroups, _ pairing: HeapPairing?) {
    bytes = Array(repeating: (0, 0), count: groups.keys.count)
    elements = bytes
    (self.groups, self.pairing) = (groups, pairing)
    add(old, isAfter: false)
    add(new, isAfter: true)
  }

  private mutating func add(_ side: GrowthSide, isAfter: Bool) {
    let attribution = groups.attribution(side)
    defer { attribution.deallocate() }
    for block in 0..<side.heap.graph.count where attribution[block] != GrowthGroups.none {
      let group = Int(attribution[block])
      let size = Int(clamping: side.heap.graph.size(block))
      let type = UInt64(group) << 32 | UInt64(side.types[block])
      if isAfter { bytes[group].after += size } else { bytes[group].before += size }
      var amounts = types[type] ?? (.init(), .init())
      if isAfter {
        amounts.after.count += 1
        amounts.after.bytes += size
      } else {
        amounts.before.count += 1
        amounts.before.bytes += size
      }
      types[type] = amounts
      note(block, side, isAfter: isAfter)
    }
    for use in side.heap.graph.uses where attribution[Int(use.rank)] != GrowthGroups.none {
      let group = Int(attribution[Int(use.rank)])
      guard groups.keys[group].contains(side.keys[Int(use.rank)]) else { continue }
      let used = Int(clamping: use.used)
      if isAfter { elements[group].after &+= used } else { elements[group].before &+= used }
    }
  }

  private mutating func note(_ block: Int, _ side: GrowthSide, isAfter: Bool) {
    let key = side.keys[block]
    guard side.isCounted[block], groups.ofKey[Int(key)] != GrowthGroups.none else { return }
    let moved = isAfter ? pairing?.came[block] : pairing?.went[block]
    if moved == true {
      if isAfter {
        turnover[key, default: (0, 0)].came += 1
      } else {
        turnover[key, default: (0, 0)].went += 1
      }
    }
    guard isAfter else { return }
    let came = moved ?? false
    if let known = examples[key], known.came || !came { return }
    examples[key] = (block, came)
  }
}
