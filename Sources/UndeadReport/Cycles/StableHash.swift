/// A hash that is the same in every process and on every machine, for signatures. Not for hostile input.
package struct StableHash: Hashable, Comparable {
  package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  /// The hash of a text.
  package init(_ text: String) {
    for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    finish()
  }

  /// Mixes in a part; the order of parts matters.
  package mutating func mix(_ part: UInt64) {
    value = (value ^ part) &* 0x9e37_79b9_7f4a_7c15
    finish()
  }

  package mutating func mix(_ part: StableHash) {
    mix(part.value)
  }

  /// Spreads the high bits over the low ones (the finaliser of MurmurHash3).
  private mutating func finish() {
    value ^= value >> 33
    value = value &* 0xff51_afd7_ed55_8ccd
    value ^= value >> 33
  }

  package static func < (a: StableHash, b: StableHash) -> Bool { a.value < b.value }

  /// 16 hex digits.
  package var hexadecimal: String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
