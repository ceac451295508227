import UndeadSystem

/// The parts of an ELF file that say what kind of program it is and what its addresses are called.
///
/// Reads tolerantly: what is missing or damaged is empty, so that a strange file is at worst a file without names.
/// Not thread-safe.
package final class ELFFile {
  struct Section {
    /// Among the names.
    let name: UInt32
    let type: UInt32
    let offset: UInt64
    let size: UInt64
    let link: UInt32
    let entrySize: UInt64
  }

  package let path: String
  package let header: ELFHeader
  package let segments: [ELFSegment]

  let file: MappedFile
  let sections: [Section]

  /// Reads the headers of `path`.
  ///
  /// - Throws: `FileProblem` if the file cannot be read.
  /// - Returns: nil if it is no ELF file, or one with the other byte order.
  package init?(path: String) throws(FileProblem) {
    let file = try MappedFile(path: path)
    guard let header = ELFHeader(Bytes(file.bytes(at: 0, count: ELFHeader.size))), header.isLittleEndian else {
      return nil
    }
    self.path = path
    self.file = file
    self.header = header
    // A program of another word size is only distinguished, never read further.
    segments = header.segments(file.bytes)
    sections = header.bits == 64 ? Self.readSections(header.sections, file) : []
  }

  private static func readSections(_ table: ELFHeader.Table, _ file: MappedFile) -> [Section] {
    guard table.offset > 0 else { return [] }
    let bytes = Bytes(file.bytes(at: table.offset, count: table.entrySize * table.count))
    return table.entries(in: bytes, ofAtLeast: 64).map { start in
      Section(
        name: bytes.number(at: start), type: bytes.number(at: start + 4), offset: bytes.number(at: start + 24),
        size: bytes.number(at: start + 32), link: bytes.number(at: start + 40), entrySize: bytes.number(at: start + 56))
    }
  }

  /// Names of the sections.
  package var sectionNames: Set<String> {
    guard header.namesSection < sections.count else { return [] }
    let texts = sections[header.namesSection].offset
    return Set(sections.compactMap { file.text(at: texts &+ UInt64($0.name)) })
  }

  // MARK: Loading

  /// The dynamic loader that the file asks for; nil for a static program and for most libraries.
  package var interpreter: String? {
    segments.first { $0.kind == ELFSegment.Kind.interpreter }.flatMap { file.text(at: $0.offset) }
  }

  /// True if the file is a program that no dynamic loader prepares, so that nothing can be preloaded into it.
  package var isStaticProgram: Bool { (header.kind == .executable || header.kind == .shared) && interpreter == nil }

  /// Where `address` (as linked) is in the file.
  func fileOffset(of address: UInt64) -> UInt64? {
    for segment in segments where segment.kind == ELFSegment.Kind.load {
      if address >= segment.address, address - segment.address < segment.fileSize {
        return segment.offset &+ (address - segment.address)
      }
    }
    return nil
  }

  private func dynamicValues(_ wanted: UInt64) -> [UInt64] {
    guard let dynamic = segments.first(where: { $0.kind == ELFSegment.Kind.dynamic }) else { return [] }
    var values: [UInt64] = []
    var position = dynamic.offset
    let end = dynamic.offset &+ dynamic.fileSize
    while position < end, let tag = file.read(UInt64.self, at: position), tag != 0,
      let value = file.read(UInt64.self, at: position + 8)
    {
      if tag == wanted { values.append(value) }
      position += 16
    }
    return values
  }

  /// Names of the libraries that the loader must bring along, in order.
  package var neededLibraries: [String] {
    let stringTable: UInt64 = 5
    let needed: UInt64 = 1
    guard let address = dynamicValues(stringTable).first, let strings = fileOffset(of: address) else { return [] }
    return dynamicValues(needed).compactMap { file.text(at: strings &+ $0) }
  }

  private func isCode(_ address: UInt64) -> Bool {
    segments.contains {
      $0.kind == ELFSegment.Kind.load && $0.isExecutable && address >= $0.address
        && address - $0.address < $0.memorySize
    }
  }

  /// The code that a function value stands for: `address` itself, or what the record of an async function refers to.
  package func code(of address: UInt64) -> UInt64 {
    // The function word of an async closure is the address of a record: relative offset of the code, context size.
    guard !isCode(address), let place = fileOffset(of: address), let offset = file.read(Int32.self, at: place) else {
      return address
    }
    let code = address &+ UInt64(bitPattern: Int64(offset))
    return isCode(code) ? code : address
  }

  // MARK: Identity

  /// The linker's build id in hexadecimal digits, "" if the file has none.
  package var buildID: String { segments.buildID(file.bytes)?.hex ?? "" }
}
