/// The timers of one distinct set of modes. One queue for each set: timers whose modes do not run, however overdue,
/// are never looked at by those that do.
struct ModeSet {
  /// Modes in ascending order.
  var modes: [Int32]
  /// Timers that want to be exact.
  var exact = DueHeap()
  /// Timers with tolerance: by the date before which they must not fire...
  var soft = DueHeap()
  /// ...and by the date after which they are late.
  var hard = DueHeap()
  /// Timers in this set, those that are firing included.
  var timers = 0
  /// Those of them that the gap between two wake-ups would cost ticks.
  var urgent = 0
  /// The starvation that lasts was reported.
  var starvationReported = false

  init(modes: [Int32]) { self.modes = modes }

  func contains(_ mode: Int32) -> Bool { modes.contains(mode) }
}

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
