/// A growing list of plain values outside of Swift's arrays: no counts, no copies, and what grew large moves by remapping.
struct FlatList<Element: BitwiseCopyable> {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int) {
    self.capacity = max(capacity, 16)
    base = .allocate(capacity: self.capacity)
  }

  @inline(__always)
  mutating func append(_ element: Element) {
    if count == capacity { grow() }
    (base + count).initialize(to: element)
    count += 1
  }

  mutating func removeAll() { count = 0 }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: base, count: count)
    base.deallocate()
    base = larger
    capacity *= 2
  }

  /// The elements; the caller deallocates them.
  func taken() -> UnsafeBufferPointer<Element> { UnsafeBufferPointer(start: base, count: count) }
}

extension UnsafeMutableBufferPointer where Element: BitwiseCopyable {
  /// A buffer filled with one value; the caller deallocates it.
  static func filled(_ count: Int, with value: Element) -> Self {
    let buffer = Self.allocate(capacity: count)
    buffer.initialize(repeating: value)
    return buffer
  }
}
