import UndeadReport

/// Count, shallow and retained bytes of blocks by a key.
package struct HeapTally {
  package private(set) var counts: [Int]
  package private(set) var bytes: [UInt64]
  /// Blocks that any block of the key dominates, each counted once.
  package private(set) var retained: [UInt64]

  /// - Parameters:
  ///   - keys: below `keyCount`, by block.
  ///   - isCounted: false for blocks whose bytes count, but that are none of the key's own; nil if all are.
  package init(
    _ heap: LoadedHeap, keys: UnsafeBufferPointer<UInt32>, keyCount: Int, isCounted: UnsafeBufferPointer<Bool>? = nil
  ) {
    let dominators = heap.dominators
    var counts = [Int](repeating: 0, count: keyCount)
    var bytes = [UInt64](repeating: 0, count: keyCount)
    var retained = [UInt64](repeating: 0, count: keyCount)
    // Up to where the outermost block of each key, of those that were met last, dominates what follows.
    var ends = [UInt32](repeating: 0, count: keyCount)
    for place in 0..<dominators.nodes.count {
      let node = Int(dominators.order[place])
      guard dominators.nodes.isBlock(node) else { continue }
      let key = Int(keys[node])
      bytes[key] &+= heap.graph.size(node)
      if isCounted?[node] ?? true { counts[key] += 1 }
      guard UInt32(place) >= ends[key] else { continue }
      retained[key] &+= dominators.retained[node]
      ends[key] = UInt32(place) + dominators.subtree[node]
    }
    (self.counts, self.bytes, self.retained) = (counts, bytes, retained)
  }
}

/// Keys of blocks for a table, one for each row.
package final class HeapKeys {
  package let keys: UnsafeMutableBufferPointer<UInt32>
  /// False for storage that counts with its owner.
  package let isCounted: UnsafeMutableBufferPointer<Bool>
  package private(set) var count = 0
  private var numbers: [UInt64: UInt32] = [:]

  init(_ heap: LoadedHeap) {
    keys = .filled(heap.graph.count, with: 0)
    isCounted = .filled(heap.graph.count, with: true)
  }

  deinit {
    keys.deallocate()
    isCounted.deallocate()
  }

  /// The number of a key, given in the order of first use.
  func number(_ key: UInt64) -> UInt32 {
    if let known = numbers[key] { return known }
    defer { count += 1 }
    numbers[key] = UInt32(count)
    return UInt32(count)
  }

  func tally(_ heap: LoadedHeap) -> HeapTally {
    HeapTally(
      heap, keys: UnsafeBufferPointer(keys), keyCount: count, isCounted: UnsafeBufferPointer(isCounted))
  }
}
