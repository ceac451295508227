/// Compresses bytes into a file of gzip (RFC 1952), as readers of profiles expect them.
///
/// The content is one block of DEFLATE with its fixed codes (RFC 1951, 3.2.6), which needs no tables of its own. A match is searched
/// at one place: where the same four bytes were last. Profiles become a third to a tenth of their size. zlib makes them smaller still,
/// but not every system that builds the package has its headers.
package struct Gzip {
  private var output: [UInt8]
  /// Bits that are not a whole byte yet, from the lowest on.
  private var bits: UInt64 = 0
  private var bitCount = 0

  private static let farthest = 32_768
  private static let longest = 258
  private static let endOfBlock = 256

  /// The compressed bytes; the same ones for the same input.
  package static func compress(_ bytes: [UInt8]) -> [UInt8] {
    // Deflate, no name, no time, unknown system.
    var gzip = Gzip(output: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
    gzip.output.reserveCapacity(bytes.count / 2 + 64)
    bytes.withUnsafeBufferPointer { gzip.deflate($0) }
    gzip.append(checksum(bytes))
    gzip.append(UInt32(truncatingIfNeeded: bytes.count))
    return gzip.output
  }

  private mutating func append(_ number: UInt32) {
    withUnsafeBytes(of: number.littleEndian) { output += $0 }
  }

  private init(output: [UInt8]) {
    self.output = output
  }

  // MARK: Matches

  private mutating func deflate(_ bytes: UnsafeBufferPointer<UInt8>) {
    // The last block, of fixed codes.
    put(0b011, 3)
    var latest = [Int](repeating: -1, count: 1 << 15)
    var place = 0
    while place < bytes.count {
      let start = place
      guard let earlier = Self.match(bytes, place, &latest) else {
        put(symbol: Int(bytes[place]))
        place += 1
        continue
      }
      repeat {
        place += 1
      } while place < bytes.count && place - start < Self.longest
        && bytes[place] == bytes[earlier + place - start]
      put(length: place - start, distance: start - earlier)
    }
    put(symbol: Self.endOfBlock)
    // Fills up the last byte.
    put(0, 7)
  }

  /// Where the four bytes of a place were last, if a reference reaches that far; notes the place.
  private static func match(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int, _ latest: inout [Int]) -> Int? {
    guard place + 4 <= bytes.count else { return nil }
    let four = UnsafeRawPointer(bytes.baseAddress! + place).loadUnaligned(as: UInt32.self)
    let slot = Int((four &* 0x9E37_79B1) >> 17)
    let earlier = latest[slot]
    latest[slot] = place
    guard earlier >= 0, place - earlier <= farthest else { return nil }
    return UnsafeRawPointer(bytes.baseAddress! + earlier).loadUnaligned(as: UInt32.self) == four ? earlier : nil
  }

  // MARK: Codes

  /// Bits, from the lowest on.
  private mutating func put(_ value: Int, _ count: Int) {
    bits |= UInt64(value) << bitCount
    bitCount += count
    while bitCount >= 8 {
      output.append(UInt8(truncatingIfNeeded: bits))
      bits >>= 8
      bitCount -= 8
    }
  }

  /// The bits of a code begin with its highest.
  private mutating func put(code: Int, _ count: Int) {
    var reversed = 0
    for bit in 0..<count where code >> bit & 1 == 1 { reversed |= 1 << (count - 1 - bit) }
    put(reversed, count)
  }

  /// A byte, the end or a length, by its fixed code.
  private mutating func put(symbol: Int) {
    switch symbol {
    case 0..<144: put(code: 0x30 + symbol, 8)
    case 144..<256: put(code: 0x190 + symbol - 144, 9)
    case 256..<280: put(code: symbol - 256, 7)
    default: put(code: 0xC0 + symbol - 280, 8)
    }
  }

  private mutating func put(length: Int, distance: Int) {
    if length == Self.longest {
      put(symbol: 285)
    } else {
      let (symbol, rest, count) = Self.split(length - 3, steps: 2)
      put(symbol: 257 + symbol)
      put(rest, count)
    }
    let (symbol, rest, count) = Self.split(distance - 1, steps: 1)
    put(code: symbol, 5)
    put(rest, count)
  }

  /// A number as a symbol and the bits that follow it. Each power of two has so many symbols (1 << steps).
  private static func split(_ number: Int, steps: Int) -> (symbol: Int, rest: Int, count: Int) {
    guard number >= 2 << steps else { return (number, 0, 0) }
    let count = Int.bitWidth - 1 - number.leadingZeroBitCount - steps
    return (count << steps + number >> count, number & (1 << count - 1), count)
  }

  // MARK: Checksum

  /// CRC-32 of ISO 3309.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var value: UInt32 = .max
    for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    return ~value
  }

  private static let table: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { value, _ in value & 1 == 0 ? value >> 1 : 0xEDB8_8320 ^ value >> 1 }
  }
}
