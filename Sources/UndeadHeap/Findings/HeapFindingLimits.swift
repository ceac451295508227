/// How much there must be of something before it is reported.
struct HeapFindingLimits {
  /// Bytes that could be saved.
  let bytes: UInt64
  /// All blocks that are reached.
  let total: UInt64

  static let tasks = 100
  static let equalStrings = 100
  /// Strings of one content before they count as repeated.
  static let repetitions = 10

  init(_ heap: LoadedHeap) {
    var total: UInt64 = 0
    for block in 0..<heap.graph.count where heap.graph.shape(block).has(HeapFile.Shape.reached) {
      total &+= heap.graph.size(block)
    }
    self.total = total
    bytes = max(256 << 10, total / 100)
  }

  /// A container with a third of a small heap is nothing to look at, nor is one large buffer of a program.
  func isDominating(_ retained: UInt64, blocks: Int) -> Bool {
    retained > total / 3 && (retained >= 16 << 20 || (retained >= 4 << 20 && blocks >= 1000))
  }
}
