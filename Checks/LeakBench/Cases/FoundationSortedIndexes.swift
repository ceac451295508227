// source: swiftlang/swift-corelibs-foundation 4f6719244e13
// A sort through a buffer of indexes did not deallocate the buffer.
// expect: leak raw in sorted

enum FoundationSortedIndexes: LeakCase {
  final class Items {
    private let items: [String]
    init(_ items: [String]) { self.items = items }

    @inline(never) func sorted() -> [String] {
      var indexes = UnsafeMutableBufferPointer<Int>.allocate(capacity: items.count)
      _ = indexes.initialize(from: items.indices)
      indexes.sort { items[$0] < items[$1] }
      let result = [String](unsafeUninitializedCapacity: items.count) { buffer, count in
        for (position, index) in indexes.enumerated() {
          buffer.baseAddress?.advanced(by: position).initialize(to: items[index])
        }
        count = items.count
      }
      #if FIXED
        indexes.deallocate()
      #endif
      return result
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { precondition(Items(["c", "a", "b"]).sorted().first == "a") }
  }
}
