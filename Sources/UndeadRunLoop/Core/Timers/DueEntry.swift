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
#endif
