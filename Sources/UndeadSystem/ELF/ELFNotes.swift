/// Notes of an ELF file: named, typed pieces.
package struct ELFNotes: Sequence, IteratorProtocol {
  package struct Note {
    package let name: String
    package let type: UInt32
    package let content: Bytes
    /// In the bytes of all notes.
    package let offset: Int
  }

  private let bytes: Bytes
  private let padding: Int
  private var offset = 0
  /// Where a note begins that does not fit.
  package private(set) var damage: Int?

  /// - Parameter alignment: of the segment they are in; notes are padded to 4 bytes, in some segments to 8.
  package init(_ bytes: Bytes, alignment: UInt64 = 4) {
    self.bytes = bytes
    padding = alignment == 8 ? 8 : 4
  }

  private func padded(_ size: Int) -> Int { (size + padding - 1) / padding * padding }

  package mutating func next() -> Note? {
    guard damage == nil, offset < bytes.count else { return nil }
    let start = offset
    let nameSize = Int(bytes.number(at: start, as: UInt32.self))
    let size = Int(bytes.number(at: start + 4, as: UInt32.self))
    let content = start + padded(12 + nameSize)
    guard bytes.count - start >= 12, content + size <= bytes.count else {
      damage = start
      return nil
    }
    offset = content + padded(size)
    return Note(
      name: bytes.text(at: start + 12, limit: nameSize), type: bytes.number(at: start + 8),
      content: bytes.part(at: content, length: size), offset: start)
  }
}
