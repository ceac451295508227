/// References of one field between blocks of two groups.
package struct LinkKey: Hashable {
  package var holder: UInt32
  package var place: UInt32
  package var target: UInt32
}

/// Walks over all blocks or references. Pages ask for these: they are not optimised themselves.
extension LoadedHeap {
  /// How many owning references there are between the types.
  package func countsOfLinks() -> [LinkKey: Int] {
    var counts: [LinkKey: Int] = [:]
    for block in 0..<graph.count {
      let holder = UInt32(group(block))
      for edge in graph.edges(of: block) where ownership.owns[edge] {
        let target = UInt32(group(Int(graph.targets[edge])))
        counts[LinkKey(holder: holder, place: graph.places[edge], target: target), default: 0] += 1
      }
    }
    return counts
  }

  /// Numbers and bytes of the blocks of each type.
  package func countsOfGroups() -> (counts: [Int], bytes: [UInt64]) {
    var counts = [Int](repeating: 0, count: types.groups.count)
    var bytes = [UInt64](repeating: 0, count: types.groups.count)
    for block in 0..<graph.count {
      counts[group(block)] += 1
      bytes[group(block)] &+= graph.size(block)
    }
    return (counts, bytes)
  }

  /// All references to a block.
  package func edges(to block: Int) -> [Int] {
    graph.targets.indices.filter { Int(graph.targets[$0]) == block }
  }
}
