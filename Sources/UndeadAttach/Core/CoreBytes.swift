/// Little-endian numbers and texts of untrusted bytes: nothing is read beyond them.
struct CoreBytes {
  private let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }
  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  var count: Int { bytes.count }

  /// Zero beyond the end: who cares asks for `count` first.
  func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number {
    let size = MemoryLayout<Number>.size
    guard offset >= 0, offset <= count - size else { return 0 }
    return bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
  }

  /// The part from `offset` on, at most `length` long.
  func part(at offset: Int, length: Int = .max) -> CoreBytes {
    guard offset >= 0, offset < count, length > 0 else { return CoreBytes([]) }
    let start = bytes.startIndex + offset
    return CoreBytes(bytes[start..<(length < count - offset ? start + length : bytes.endIndex)])
  }

  /// The text that ends with a zero, or where the bytes end.
  func text(at offset: Int, limit: Int = .max) -> String {
    String(decoding: part(at: offset, length: limit).bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Where the first zero at or after `offset` is.
  func zero(from offset: Int) -> Int? {
    guard offset >= 0, offset < count else { return nil }
    return bytes[(bytes.startIndex + offset)...].firstIndex(of: 0).map { $0 - bytes.startIndex }
  }

  var array: [UInt8] { [UInt8](bytes) }
}

/// A number as people write addresses and offsets.
func hex(_ number: some BinaryInteger) -> String { "0x" + String(number, radix: 16) }
