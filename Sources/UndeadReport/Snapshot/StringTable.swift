/// Byte offset of a zero-terminated string in the STRINGS section; 0 is the empty string.
package typealias StringID = UInt32

/// The strings of a snapshot: bytes in one block, each string made only when it is asked for.
package struct StringTable: Sendable, Equatable {
  /// The section as it stands in the file: starts and ends with a zero.
  package private(set) var bytes: [UInt8]

  /// Makes a table that holds only the empty string.
  package init() {
    bytes = [0]
  }

  /// Takes over the bytes of a section that starts and ends with a zero.
  init(validated bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The string at an offset; bytes that are not UTF-8 are replaced. An offset outside gives the empty string.
  package subscript(id: StringID) -> String {
    let start = Int(id)
    guard start > 0, start < bytes.count, let end = bytes[start...].firstIndex(of: 0) else { return "" }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// True if the string at an offset starts with a byte.
  func starts(_ id: StringID, with byte: UInt8) -> Bool {
    Int(id) < bytes.count && bytes[Int(id)] == byte
  }

  /// True if the string at an offset is a number in brackets, and no more.
  func isElement(_ id: StringID) -> Bool {
    guard starts(id, with: UInt8(ascii: "[")) else { return false }
    let digits = bytes[(Int(id) + 1)...].prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    let end = bytes[digits.endIndex...].prefix(2)
    return !digits.isEmpty && end.elementsEqual([UInt8(ascii: "]"), 0])
  }

  /// Appends a string and returns its offset; does not look for one that is already there.
  package mutating func append(_ text: String) -> StringID {
    let clean = text.utf8.prefix { $0 != 0 }
    guard !clean.isEmpty else { return 0 }
    let id = StringID(bytes.count)
    bytes.append(contentsOf: clean)
    bytes.append(0)
    return id
  }
}
