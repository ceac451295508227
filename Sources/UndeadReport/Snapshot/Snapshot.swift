extension Snapshot {
  /// The first value of a key of META; nil if it is not there.
  package func metadata(_ key: String) -> String? {
    metadata.first { $0.key == key }?.value
  }

  /// True if the process was copied and not recorded, so that nothing is known of the places of its allocations.
  package var isBare: Bool {
    metadata("recorded") != nil && metadata("recordedSince") == nil && nodes.allSatisfy { $0.stack == Snapshot.none }
  }

  /// Sets a key of META to one value, in place of those that it had.
  package mutating func setMetadata(_ key: String, _ value: String) {
    metadata.removeAll { $0.key == key }
    metadata.append(MetadataEntry(key: key, value: value))
  }

  /// A counter; 0 if it was not written.
  package func counter(_ key: String) -> UInt64 {
    counters.first { $0.key == key }?.value ?? 0
  }

  /// The return addresses of a stack, innermost first; empty for ``none``.
  package func addresses(ofStack index: Index) -> ArraySlice<UInt64> {
    guard index != Snapshot.none else { return [] }
    let stack = stacks[Int(index)]
    return frames[Int(stack.first)..<(Int(stack.first) + Int(stack.count))]
  }

  /// Every code address that a report needs a name for, as it is looked up (return addresses minus 1), ascending.
  package var lookupAddresses: [UInt64] {
    var seen = Set<UInt64>()
    // Most stacks share their frames, and there may be a million stacks: a set is slow for what was just added.
    var recent = [UInt64](repeating: 0, count: 1024)
    for address in frames where address > 0 {
      let slot = Int(truncatingIfNeeded: (address ^ (address >> 10)) & 1023)
      guard recent[slot] != address else { continue }
      recent[slot] = address
      seen.insert(address - 1)
    }
    return seen.union(functionValues).sorted()
  }

  /// The functions of closures.
  var functionValues: Set<UInt64> { Set(edges.lazy.map(\.function).filter { $0 != 0 }) }
}
