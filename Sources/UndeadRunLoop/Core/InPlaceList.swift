#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// A growing list in memory of its own: reading and changing elements in place costs neither reference counting nor
/// checks, which would be half of the price of a fire.
struct InPlaceList<Element> {
  private var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity = 8

  init() { base = .allocate(capacity: capacity) }

  var indices: Range<Int> { 0..<count }

  @inline(__always)
  subscript(index: Int) -> Element {
    _read {
      assert(index >= 0 && index < count)
      yield base[index]
    }
    nonmutating _modify {
      assert(index >= 0 && index < count)
      yield &base[index]
    }
  }

  mutating func append(_ element: Element) {
    if count == capacity {
      let grown = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
      grown.moveInitialize(from: base, count: count)
      base.deallocate()
      base = grown
      capacity *= 2
    }
    (base + count).initialize(to: element)
    count += 1
  }

  mutating func removeAll() {
    base.deinitialize(count: count)
    count = 0
  }

  func firstIndex(where matches: (Element) -> Bool) -> Int? { indices.first { matches(base[$0]) } }

  func contains(where matches: (Element) -> Bool) -> Bool { firstIndex(where: matches) != nil }
}
#endif
