/// Where a loop keeps its timers: a slot holds one strong reference and the key of the entry that is valid for it.
struct SlotTable: ~Copyable {
  struct Slot {
    /// The valid key while scheduled, 0 when free.
    var key: UInt64
    /// The timer, or the next free slot when the slot is free.
    var timer: Unmanaged<TrackedTimer>?
    var nextFree: Int32
    /// Index of the set of modes that the timer is in.
    var modeSet: Int32
  }

  private(set) var base: UnsafeMutablePointer<Slot>?
  private var capacity: Int32 = 0
  private var firstFree: Int32 = -1
  private(set) var used = 0

  /// One past the highest slot that was ever handed out.
  var upperBound: Int { Int(capacity) }

  @inline(__always)
  func isLive(_ key: UInt64) -> Bool { base.unsafelyUnwrapped[DueKey.slot(key)].key == key }

  @inline(__always)
  subscript(slot: Int32) -> Slot {
    _read { yield base.unsafelyUnwrapped[Int(slot)] }
    nonmutating _modify { yield &base.unsafelyUnwrapped[Int(slot)] }
  }

  /// A free slot, or nil when as many timers are scheduled as keys can tell apart (16,777,215).
  @inline(__always)
  mutating func take() -> Int32? {
    if firstFree < 0, !grow() { return nil }
    let slot = firstFree
    firstFree = base.unsafelyUnwrapped[Int(slot)].nextFree
    used &+= 1
    return slot
  }

  @inline(__always)
  mutating func free(_ slot: Int32) {
    let pointer = base.unsafelyUnwrapped + Int(slot)
    pointer.pointee.key = 0
    pointer.pointee.timer = nil
    pointer.pointee.nextFree = firstFree
    firstFree = slot
    used &-= 1
  }

  @inline(never)
  private mutating func grow() -> Bool {
    let larger = min(max(64, Int(capacity) * 2), DueKey.slotCapacity)
    guard larger > Int(capacity) else { return false }
    let grown = UnsafeMutablePointer<Slot>.allocate(capacity: larger)
    if let base {
      grown.moveInitialize(from: base, count: Int(capacity))
      base.deallocate()
    }
    for index in Int(capacity)..<larger {
      let next = index + 1 == larger ? -1 : Int32(index + 1)
      (grown + index).initialize(to: Slot(key: 0, timer: nil, nextFree: next, modeSet: 0))
    }
    firstFree = capacity
    base = grown
    capacity = Int32(larger)
    return true
  }
}
