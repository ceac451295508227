#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Where a loop keeps its timers: a slot holds one strong reference, the set of modes, and what says which entry of the
/// queue is the valid one.
struct SlotTable: ~Copyable {
  private struct Slot {
    /// The sequence number of the valid entry, 0 if there is none; then the set of modes, in the bits that are the slot's
    /// number in a key.
    var word: UInt64
    /// The timer, or the next free slot.
    var bits: UInt
  }

  /// In the place of a set: nobody uses the slot.
  private static let free = DueKey.slotMask
  private static let noSlot = UInt.max
  /// How many sets of modes can be distinguished.
  static let setLimit = Int(DueKey.slotMask) - 1

  private var base: UnsafeMutablePointer<Slot>?
  private var capacity = 0
  private var firstFree = Self.noSlot
  private(set) var used = 0

  /// One past the highest slot that was ever handed out.
  var upperBound: Int32 { Int32(capacity) }

  @inline(__always)
  private func slot(_ index: Int32) -> UnsafeMutablePointer<Slot> { base.unsafelyUnwrapped + Int(index) }

  @inline(__always)
  func isLive(_ key: UInt64) -> Bool {
    DueKey.sequence(base.unsafelyUnwrapped[DueKey.slot(key)].word) == DueKey.sequence(key)
  }

  /// Makes the entry with this key the valid one of its slot.
  @inline(__always)
  func setKey(_ key: UInt64) {
    let slot = base.unsafelyUnwrapped + DueKey.slot(key)
    slot.pointee.word = slot.pointee.word & DueKey.slotMask | key & ~DueKey.slotMask
  }

  /// No entry of the slot is valid any more.
  @inline(__always)
  func removeKey(_ index: Int32) { slot(index).pointee.word &= DueKey.slotMask }

  /// The key of the valid entry, nil if there is none.
  func key(_ index: Int32) -> UInt64? {
    let sequence = DueKey.sequence(slot(index).pointee.word)
    return sequence == 0 ? nil : DueKey.make(sequence: sequence, slot: index)
  }

  /// The index of the set of modes of a slot that is used.
  @inline(__always)
  func set(_ index: Int32) -> Int32 { Int32(truncatingIfNeeded: slot(index).pointee.word & DueKey.slotMask) }

  @inline(__always)
  func setSet(_ index: Int32, _ set: Int32) {
    let slot = slot(index)
    slot.pointee.word = slot.pointee.word & ~DueKey.slotMask | UInt64(set)
  }

  /// The timer of a slot, nil if nobody uses the slot.
  func timer(_ index: Int32) -> Unmanaged<TrackedTimer>? {
    slot(index).pointee.word & DueKey.slotMask == Self.free ? nil : timer(used: index)
  }

  /// The timer of a slot that is used.
  @inline(__always)
  func timer(used index: Int32) -> Unmanaged<TrackedTimer> {
    Unmanaged.fromOpaque(address(index).unsafelyUnwrapped)
  }

  /// What stands in the place of the timer: to be loaded in advance, not to be followed.
  @inline(__always)
  func address(_ index: Int32) -> UnsafeRawPointer? { UnsafeRawPointer(bitPattern: slot(index).pointee.bits) }

  /// A slot for a timer, retained for it, without a valid entry; nil when as many timers are scheduled as keys can distinguish
  /// (16,777,215).
  @inline(__always)
  mutating func take(_ timer: Unmanaged<TrackedTimer>, set: Int32) -> Int32? {
    if firstFree == Self.noSlot, !grow() { return nil }
    let index = Int32(truncatingIfNeeded: firstFree)
    let slot = slot(index)
    firstFree = slot.pointee.bits
    slot.pointee = Slot(word: UInt64(set), bits: UInt(bitPattern: timer.toOpaque()))
    used &+= 1
    return index
  }

  @inline(__always)
  mutating func free(_ index: Int32) {
    slot(index).pointee = Slot(word: Self.free, bits: firstFree)
    firstFree = UInt(index)
    used &-= 1
  }

  /// Whether an empty table keeps more memory than it is worth.
  @inline(__always)
  var isEmptyAndLarge: Bool { used == 0 && capacity > Self.keptCapacity }

  private static let keptCapacity = 1 << 18

  /// Gives up the memory of a table that nobody uses.
  mutating func deallocate() {
    assert(used == 0)
    base?.deallocate()
    base = nil
    capacity = 0
    firstFree = Self.noSlot
  }

  @inline(never)
  private mutating func grow() -> Bool {
    let larger = min(max(64, capacity * 2), DueKey.slotCapacity)
    guard larger > capacity else { return false }
    let grown = UnsafeMutablePointer<Slot>.allocate(capacity: larger)
    if let base {
      grown.moveInitialize(from: base, count: capacity)
      base.deallocate()
    }
    for index in capacity..<larger {
      (grown + index).initialize(to: Slot(word: Self.free, bits: index + 1 == larger ? Self.noSlot : UInt(index + 1)))
    }
    firstFree = UInt(capacity)
    base = grown
    capacity = larger
    return true
  }
}
#endif
