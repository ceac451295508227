#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Packs and unpacks `DueEntry.key`.
enum DueKey {
  static let slotBits: UInt64 = 24
  static let slotMask: UInt64 = 1 << slotBits - 1
  /// Sequence numbers at and above this one do not fit; the queue renumbers before it gets there.
  static let sequenceLimit: UInt64 = 1 << (64 - slotBits)
  static let slotCapacity = Int(slotMask)
  /// How many timers are accepted; those that are on their way must have room, too.
  static let slotLimit = slotCapacity - Inbox.capacity

  @inline(__always)
  static func make(sequence: UInt64, slot: Int32) -> UInt64 {
    sequence << slotBits | UInt64(UInt32(bitPattern: slot))
  }

  @inline(__always)
  static func slot(_ key: UInt64) -> Int { Int(key & slotMask) }

  @inline(__always)
  static func sequence(_ key: UInt64) -> UInt64 { key >> slotBits }
}
#endif
