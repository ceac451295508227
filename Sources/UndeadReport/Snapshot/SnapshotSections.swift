/// The checked frame of a snapshot file: header, checksum and where each section lies.
package struct SnapshotSections {
  /// A section whose range lies inside the file and holds whole entries.
  package struct Section: Sendable {
    package var offset: Int
    package var entrySize: Int
    package var count: Int
  }

  /// One entry of a section.
  package struct Entry {
    let bytes: UnsafeRawBufferPointer
    package let offset: Int

    package init(bytes: UnsafeRawBufferPointer, offset: Int) {
      self.bytes = bytes
      self.offset = offset
    }

    package func u32(_ field: Int) -> UInt32 { SnapshotSections.load(bytes, offset + field) }
    package func u64(_ field: Int) -> UInt64 { SnapshotSections.load(bytes, offset + field) }
  }

  private var sections: [SnapshotFormat.Section: Section] = [:]
  package private(set) var flags: UInt32 = 0

  /// Checks everything about a file but the contents of its entries.
  package init(_ bytes: UnsafeRawBufferPointer) throws(SnapshotError) {
    let count = try Self.checkHeader(bytes)
    flags = Self.load(bytes, 36)
    for number in 0..<count {
      try add(bytes, entry: SnapshotFormat.headerSize + number * SnapshotFormat.sectionEntrySize, number: number)
    }
  }

  /// The section of a kind; an empty one if the file has none.
  package subscript(kind: SnapshotFormat.Section) -> Section {
    sections[kind] ?? Section(offset: 0, entrySize: kind.entrySize, count: 0)
  }

  /// True if the file has the section, even an empty one.
  package func has(_ kind: SnapshotFormat.Section) -> Bool { sections[kind] != nil }

  package static func load<T: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> T {
    T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  /// Checks the header and returns the number of sections, whose table lies inside the file.
  private static func checkHeader(_ bytes: UnsafeRawBufferPointer) throws(SnapshotError) -> Int {
    guard !bytes.isEmpty else { throw SnapshotError(.empty, byte: 0, "") }
    let magic = SnapshotFormat.magic
    guard bytes.count >= magic.count, zip(bytes, magic).allSatisfy({ $0 == $1 }) else {
      throw SnapshotError(.notASnapshot, byte: 0, "it does not start with the bytes of a snapshot")
    }
    guard bytes.count >= SnapshotFormat.headerSize else {
      throw SnapshotError(
        .truncated, byte: bytes.count, "the header has \(SnapshotFormat.headerSize) bytes, the file \(bytes.count)")
    }
    let version: UInt32 = load(bytes, 8)
    guard version <= Snapshot.formatVersion else {
      throw SnapshotError(.futureVersion, byte: 8, "format \(version), this one reads up to \(Snapshot.formatVersion)")
    }
    guard version > 0 else { throw SnapshotError(.damaged, byte: 8, "there is no format version 0") }
    guard load(bytes, 40) == SnapshotFormat.byteOrderMark else {
      throw SnapshotError(.foreignMachine, byte: 40, "its byte order is not little endian")
    }
    guard load(bytes, 44) == SnapshotFormat.pointerSize else {
      let size: UInt32 = load(bytes, 44)
      throw SnapshotError(.foreignMachine, byte: 44, "its pointers have \(size) bytes, not 8")
    }
    guard load(bytes, 12) == UInt32(SnapshotFormat.headerSize) else {
      throw SnapshotError(.damaged, byte: 12, "the header size is not \(SnapshotFormat.headerSize)")
    }
    try checkLength(bytes)
    let count: UInt32 = load(bytes, 32)
    let room = (bytes.count - SnapshotFormat.headerSize) / SnapshotFormat.sectionEntrySize
    guard Int(count) <= room else {
      throw SnapshotError(.damaged, byte: 32, "\(count) sections are announced, there is room for \(room)")
    }
    return Int(count)
  }

  private static func checkLength(_ bytes: UnsafeRawBufferPointer) throws(SnapshotError) {
    let size: UInt64 = load(bytes, 16)
    guard size <= UInt64(bytes.count) else {
      throw SnapshotError(.truncated, byte: bytes.count, "\(size) bytes were written, \(bytes.count) are here")
    }
    guard size == UInt64(bytes.count), size % 8 == 0 else {
      throw SnapshotError(.damaged, byte: 16, "the file has \(bytes.count) bytes, its header says \(size)")
    }
    let checksum: UInt64 = load(bytes, 24)
    guard checksum == SnapshotFormat.checksum(bytes) else {
      throw SnapshotError(.damaged, byte: 24, "the checksum does not match the contents")
    }
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer, entry: Int, number: Int) throws(SnapshotError) {
    let kind: UInt32 = Self.load(bytes, entry)
    guard let known = SnapshotFormat.Section(rawValue: kind) else { return }
    let entrySize: UInt32 = Self.load(bytes, entry + 4)
    let offset: UInt64 = Self.load(bytes, entry + 8)
    let byteCount: UInt64 = Self.load(bytes, entry + 16)
    let count: UInt64 = Self.load(bytes, entry + 24)
    // Only errors need the kind's name, which is found by reflection.
    var name: String { "section \(number) (\(known))" }
    guard sections[known] == nil else { throw SnapshotError(.damaged, byte: entry, "\(name) is there twice") }
    let start = UInt64(SnapshotFormat.headerSize)
    let (end, endOverflow) = offset.addingReportingOverflow(byteCount)
    guard offset >= start, offset % 8 == 0, !endOverflow, end <= UInt64(bytes.count) else {
      throw SnapshotError(
        .damaged, byte: entry + 8, "\(name) claims \(byteCount) bytes at \(offset) of a file of \(bytes.count)")
    }
    // The entry count of the strings carries no meaning.
    if known == .strings {
      sections[known] = Section(offset: Int(offset), entrySize: 1, count: Int(byteCount))
      return
    }
    let (product, overflow) = count.multipliedReportingOverflow(by: UInt64(entrySize))
    // Entries are known by 32-bit indices; the bytes of a stream are not.
    let isCountable = count < UInt64(UInt32.max) || (known.entrySize == 1 && entrySize == 1)
    guard Int(entrySize) >= known.entrySize, !overflow, product == byteCount, isCountable else {
      throw SnapshotError(
        .damaged, byte: entry + 4, "\(name) claims \(count) entries of \(entrySize) bytes in \(byteCount) bytes")
    }
    sections[known] = Section(offset: Int(offset), entrySize: Int(entrySize), count: Int(count))
  }
}
