/// Bytes in the form of gzip, which some readers of profiles insist on; they are not made smaller.
enum Gzip {
  static func wrap(_ bytes: [UInt8]) -> [UInt8] {
    // Deflate, no name, no time, unknown system.
    var result: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
    result.reserveCapacity(bytes.count + bytes.count / 1000 + 64)
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(0xFFFF)
      rest = rest.dropFirst(block.count)
      let length = UInt16(block.count)
      // A stored block: last or not, its length, and the complement of that.
      result.append(rest.isEmpty ? 1 : 0)
      append(length, &result)
      append(~length, &result)
      result += block
    } while !rest.isEmpty
    append(checksum(bytes), &result)
    append(UInt32(truncatingIfNeeded: bytes.count), &result)
    return result
  }

  private static func append(_ number: some FixedWidthInteger, _ bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
  }

  /// CRC-32 of ISO 3309.
  static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var value: UInt32 = .max
    for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    return ~value
  }

  private static let table: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 0 ? value >> 1 : 0xEDB8_8320 ^ value >> 1 }
  }
}
