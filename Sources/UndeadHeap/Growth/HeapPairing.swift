import UndeadReport

/// Which blocks of two heaps of one process are the same: those at one address, of one type, that one backtrace
/// allocated in one generation.
package struct HeapPairing {
  /// By block of the new heap: true if the old one does not have it.
  let came: UnsafeMutableBufferPointer<Bool>
  /// By block of the old heap: true if the new one does not have it.
  let went: UnsafeMutableBufferPointer<Bool>
  package private(set) var cameCount = 0
  package private(set) var wentCount = 0

  package init(_ old: GrowthSide, _ new: GrowthSide) {
    came = .filled(new.heap.graph.count, with: true)
    went = .filled(old.heap.graph.count, with: true)
    var before = StackPrints(old.heap)
    var after = StackPrints(new.heap)
    var (a, b) = (0, 0)
    var same = 0
    while a < went.count, b < came.count {
      let (first, second) = (old.heap.graph.addresses[a], new.heap.graph.addresses[b])
      if first == second {
        if old.types[a] == new.types[b], before.print(a) == after.print(b) {
          went[a] = false
          came[b] = false
          same += 1
        }
        a += 1
        b += 1
      } else if first < second {
        a += 1
      } else {
        b += 1
      }
    }
    cameCount = came.count - same
    wentCount = went.count - same
  }

  /// What came and went, by type.
  package func turnover(_ old: GrowthSide, _ new: GrowthSide, types: Int) -> [(came: Int, went: Int)] {
    var result = Array(repeating: (came: 0, went: 0), count: types)
    for block in came.indices where came[block] { result[Int(new.types[block])].came += 1 }
    for block in went.indices where went[block] { result[Int(old.types[block])].went += 1 }
    return result
  }

  package func deallocate() {
    came.deallocate()
    went.deallocate()
  }

  /// True if two files are of one process.
  package static func isPossible(_ old: Snapshot, _ new: Snapshot) -> Bool {
    guard let pid = old.metadata("pid"), let start = old.metadata("startedAt") else { return false }
    return pid == new.metadata("pid") && start == new.metadata("startedAt")
  }
}

/// Hashes of where and when blocks were allocated, the same in all files of one process.
private struct StackPrints {
  private let heap: LoadedHeap
  private var ofSite: [UInt64?]

  init(_ heap: LoadedHeap) {
    self.heap = heap
    ofSite = Array(repeating: nil, count: heap.file.sites.count + 1)
  }

  mutating func print(_ block: Int) -> UInt64 {
    let site = Int(heap.graph.sites[block])
    if let known = ofSite[site] { return known }
    var hash = UInt64(0)
    if let record = heap.graph.site(block) {
      hash = UInt64(record.generation) &+ 1
      guard record.stack != Snapshot.none else { return hash }
      for address in heap.file.snapshot.addresses(ofStack: record.stack) {
        hash = (hash ^ address) &* 0x9e37_79b9_7f4a_7c15
        hash ^= hash >> 29
      }
    }
    ofSite[site] = hash
    return hash
  }
}
