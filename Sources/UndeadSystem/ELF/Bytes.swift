/// Little-endian numbers and texts of untrusted bytes: nothing is read beyond them.
package struct Bytes: Equatable {
  private let bytes: ArraySlice<UInt8>

  package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }
  package init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  package var count: Int { bytes.count }

  /// Zero beyond the end: who cares asks for `count` first.
  package func number<Number: FixedWidthInteger>(at offset: Int, as type: Number.Type = Number.self) -> Number {
    let size = MemoryLayout<Number>.size
    guard offset >= 0, offset <= count - size else { return 0 }
    return bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
  }

  /// The part from `offset` on, at most `length` long.
  package func part(at offset: Int, length: Int = .max) -> Bytes {
    guard offset >= 0, offset < count, length > 0 else { return Bytes([]) }
    let start = bytes.startIndex + offset
    return Bytes(bytes[start..<(length < count - offset ? start + length : bytes.endIndex)])
  }

  /// The text that ends with a zero, or where the bytes end.
  package func text(at offset: Int, limit: Int = .max) -> String {
    String(decoding: part(at: offset, length: limit).bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Where the first zero at or after `offset` is.
  package func zero(from offset: Int) -> Int? {
    guard offset >= 0, offset < count else { return nil }
    return bytes[(bytes.startIndex + offset)...].firstIndex(of: 0).map { $0 - bytes.startIndex }
  }

  package var array: [UInt8] { [UInt8](bytes) }

  package var hex: String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
