#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// What the queue knows of a scheduled timer: 16 bytes, so that sorting never touches the timer itself.
///
/// The date and the key are one number, so that comparing two entries needs no branch. `key` is
/// `sequence << 24 | slot`: it gives the order of equal dates (first scheduled, first fired), the timer, and whether this
/// entry is still the valid one.
struct DueEntry {
  private let packed: UInt128

  private static let signBit = UInt64(1) << 63

  static let earliest = DueEntry(due: .min, key: 0)
  static let latest = DueEntry(due: .max, key: .max)

  @inline(__always)
  init(due: Int64, key: UInt64) {
    packed = UInt128(UInt64(bitPattern: due) ^ Self.signBit) << 64 | UInt128(key)
  }

  @inline(__always)
  var due: Int64 { Int64(bitPattern: UInt64(truncatingIfNeeded: packed >> 64) ^ Self.signBit) }

  @inline(__always)
  var key: UInt64 { UInt64(truncatingIfNeeded: packed) }

  @inline(__always)
  static func < (left: DueEntry, right: DueEntry) -> Bool { left.packed < right.packed }
}

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
