import UndeadReport
import UndeadSystem

/// Why a heap file could not be kept.
package enum HeapSavingError: Error, Equatable, CustomStringConvertible {
  /// The file that was to be kept cannot be read.
  case unreadable(SnapshotError)
  /// The copy could not be written; nothing of it is left.
  case unwritable(path: String, code: Int32)

  package var description: String {
    switch self {
    case .unreadable(let error): error.description
    case .unwritable(let path, let code):
      "cannot write the heap to '\(path)': \(SystemError.text(code))"
    }
  }
}

extension HeapFile {
  /// Copies a heap file with the names of its code addresses and with further facts; the graph is not decoded.
  ///
  /// The destination is replaced when the copy is complete: whatever goes wrong, no half of a file is left.
  ///
  /// - Parameters:
  ///   - path: the heap file to read.
  ///   - destination: the file to write; it is replaced if it exists.
  ///   - metadata: keys of META with their values, in place of those that the file has.
  ///   - resources: what the process had beside memory; nil for what the file says.
  ///   - symbolizer: finds the names; nil to copy without.
  /// - Returns: what the reader has to know about names that were not found, one sentence each.
  @discardableResult
  package static func save(
    _ path: String, to destination: String, metadata: [(key: String, value: String)] = [],
    resources: ProcessResources? = nil, using symbolizer: Symbolizer? = Symbolizer()
  ) throws(HeapSavingError) -> [String] {
    let file: HeapFile
    var copy: HeapFileCopy
    do throws(SnapshotError) {
      file = try HeapFile(path: path)
      copy = try HeapFileCopy(file)
    } catch {
      throw .unreadable(error)
    }
    var notes: [String] = []
    if let symbolizer {
      let known = file.snapshot.symbols
      let missing = file.lookupAddresses.filter { known[$0] == nil }
      var found = symbolizer.symbolize(missing, modules: file.snapshot.modules)
      found.symbols.frames.merge(known.frames) { _, known in known }
      notes = found.notes
      copy.replaceSymbols(found.symbols)
    }
    if !metadata.isEmpty { copy.replaceMetadata(metadata) }
    if let resources { copy.replaceResources(resources) }
    if let code = copy.write(to: destination) { throw .unwritable(path: destination, code: code) }
    return notes
  }

  /// Every code address of the file, as it is looked up, ascending.
  package var lookupAddresses: [UInt64] {
    var addresses = Set(snapshot.lookupAddresses)
    for place in places where place.function != 0 { addresses.insert(place.function) }
    return addresses.sorted()
  }
}

/// A file to be written: sections of another one byte for byte, and new ones in place of some.
private struct HeapFileCopy {
  private struct Part {
    var kind: UInt32
    var entrySize: UInt32
    var count: UInt64
    var content: Content

    enum Content {
      case old(Range<Int>)
      case new([UInt8])
    }
  }

  private let file: HeapFile
  private var parts: [Part] = []
  private var strings: StringInterner

  init(_ file: HeapFile) throws(SnapshotError) {
    self.file = file
    strings = StringInterner(file.snapshot.strings)
    let count: UInt32 = SnapshotSections.load(file.bytes, 32)
    for number in 0..<Int(count) {
      let entry = SnapshotFormat.headerSize + number * SnapshotFormat.sectionEntrySize
      let offset: UInt64 = SnapshotSections.load(file.bytes, entry + 8)
      let byteCount: UInt64 = SnapshotSections.load(file.bytes, entry + 16)
      let (end, overflow) = offset.addingReportingOverflow(byteCount)
      // Sections of kinds that are not known have not been checked before.
      guard !overflow, end <= UInt64(file.bytes.count) else {
        throw SnapshotError(.damaged, byte: entry + 8, "section \(number) does not lie inside the file")
      }
      parts.append(
        Part(
          kind: SnapshotSections.load(file.bytes, entry), entrySize: SnapshotSections.load(file.bytes, entry + 4),
          count: SnapshotSections.load(file.bytes, entry + 24), content: .old(Int(offset)..<Int(end))))
    }
  }

  mutating func replaceSymbols(_ symbols: SymbolTable) {
    for section in symbols.encoded(&strings) { replace(section.kind, section.bytes) }
  }

  mutating func replaceMetadata(_ facts: [(key: String, value: String)]) {
    var snapshot = Snapshot()
    snapshot.metadata = file.snapshot.metadata
    for fact in facts { snapshot.setMetadata(fact.key, fact.value) }
    var writer = SnapshotWriter()
    for entry in snapshot.metadata { writer.u32(strings.intern(entry.key), strings.intern(entry.value)) }
    replace(.metadata, writer.bytes)
  }

  mutating func replaceResources(_ resources: ProcessResources) {
    var (descriptors, threads) = (SnapshotWriter(), SnapshotWriter())
    for one in resources.descriptors {
      descriptors.u32(
        UInt32(bitPattern: one.number), strings.intern(one.kind.rawValue), strings.intern(one.target), one.waiter)
    }
    for one in resources.threads { threads.u32(one.id, strings.intern(one.name), strings.intern(one.call), 0) }
    replace(.descriptors, descriptors.bytes)
    replace(.threads, threads.bytes)
  }

  private mutating func replace(_ kind: SnapshotFormat.Section, _ bytes: [UInt8]) {
    parts.removeAll { $0.kind == kind.rawValue }
    guard !bytes.isEmpty else { return }
    parts.append(
      Part(
        kind: kind.rawValue, entrySize: UInt32(kind.entrySize), count: UInt64(bytes.count / kind.entrySize),
        content: .new(bytes)))
  }

  /// Writes the file, or returns the error number.
  mutating func write(to destination: String) -> Int32? {
    replace(.strings, strings.table.bytes)
    var header = head()
    let checksum = checksum(header)
    withUnsafeBytes(of: checksum.littleEndian) { header.replaceSubrange(24..<32, with: $0) }
    return FileReplacement.write(to: destination) { write in
      var problem = header.withUnsafeBytes(write)
      for part in parts where problem == nil {
        problem = withBytes(of: part, write)
        let padding = [UInt8](repeating: 0, count: Self.padding(part))
        problem = problem ?? padding.withUnsafeBytes(write)
      }
      return problem
    }
  }

  /// The header, without its checksum, and the section table.
  private func head() -> [UInt8] {
    var offset = SnapshotFormat.headerSize + parts.count * SnapshotFormat.sectionEntrySize
    var table = SnapshotWriter()
    for part in parts {
      let size = Self.size(part)
      table.u32(part.kind, part.entrySize)
      table.u64(UInt64(offset), UInt64(size), part.count)
      offset += size + Self.padding(part)
    }
    var header = [UInt8](file.bytes[..<SnapshotFormat.headerSize])
    var size = SnapshotWriter()
    size.u64(UInt64(offset), 0)
    size.u32(UInt32(parts.count))
    header.replaceSubrange(16..<36, with: size.bytes)
    return header + table.bytes
  }

  private func checksum(_ header: [UInt8]) -> UInt64 {
    var checksum = SnapshotChecksum()
    header.withUnsafeBytes { checksum.add(UnsafeRawBufferPointer(rebasing: $0[SnapshotFormat.headerSize...])) }
    for part in parts { withBytes(of: part) { checksum.add($0) } }
    return checksum.value
  }

  private func withBytes<R>(of part: Part, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    switch part.content {
    case .old(let range): body(UnsafeRawBufferPointer(rebasing: file.bytes[range]))
    case .new(let bytes): bytes.withUnsafeBytes(body)
    }
  }

  private static func size(_ part: Part) -> Int {
    switch part.content {
    case .old(let range): range.count
    case .new(let bytes): bytes.count
    }
  }

  private static func padding(_ part: Part) -> Int { (8 - size(part) % 8) % 8 }
}
