#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// First in, first out, in a ring that grows, and shrinks when it is empty. Its memory is its own: what is in it is looked at
/// in place, without reference counting.
struct Fifo<Element> {
  private var base: UnsafeMutablePointer<Element>?
  /// A power of two, or 0.
  private(set) var capacity = 0
  private var head = 0
  private(set) var count = 0

  @inline(__always)
  var isEmpty: Bool { count == 0 }

  /// The first element, in place.
  @inline(__always)
  var first: UnsafePointer<Element>? { count == 0 ? nil : base.map { UnsafePointer($0 + head) } }

  @inline(__always)
  mutating func append(_ element: consuming Element) {
    if count == capacity { grow() }
    (base.unsafelyUnwrapped + place(count)).initialize(to: element)
    count &+= 1
  }

  mutating func removeFirst() -> Element? {
    guard count > 0, let base else { return nil }
    let place = base + head
    let element = place.move()
    // What stays behind would look like a reference to a scan of memory.
    UnsafeMutableRawPointer(place).initializeMemory(as: UInt8.self, repeating: 0, count: MemoryLayout<Element>.stride)
    head = self.place(1)
    count &-= 1
    let worthKeeping = 1024
    if count == 0, capacity > worthKeeping { deallocate() }
    return element
  }

  /// All elements, in order, which leave the ring.
  mutating func removeAll() -> [Element] {
    var all: [Element] = []
    all.reserveCapacity(count)
    while let element = removeFirst() { all.append(element) }
    deallocate()
    return all
  }

  /// Gives the memory of an empty ring back.
  mutating func deallocate() {
    assert(isEmpty)
    base?.deallocate()
    base = nil
    capacity = 0
    head = 0
  }

  @inline(__always)
  private func place(_ offset: Int) -> Int { (head &+ offset) & (capacity &- 1) }

  private mutating func grow() {
    let smallest = 8
    let larger = max(smallest, capacity * 2)
    let grown = UnsafeMutablePointer<Element>.allocate(capacity: larger)
    for offset in 0..<count { (grown + offset).moveInitialize(from: base.unsafelyUnwrapped + place(offset), count: 1) }
    base?.deallocate()
    base = grown
    capacity = larger
    head = 0
  }
}
#endif
