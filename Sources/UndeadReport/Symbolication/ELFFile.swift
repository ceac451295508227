/// The parts of an ELF file that say what kind of program it is and what its addresses are called.
///
/// Reads tolerantly: what is missing or damaged is empty, so that a strange file is at worst a file without names.
/// Not thread-safe.
package final class ELFFile {
  package enum Kind: Equatable { case executable, sharedObject, other }

  /// A piece of the file that is loaded into memory.
  package struct Segment {
    package let type: UInt32
    package let fileOffset: UInt64
    package let address: UInt64
    package let fileSize: UInt64
    package let memorySize: UInt64
    package let isExecutable: Bool
  }

  struct Section {
    let type: UInt32
    let offset: UInt64
    let size: UInt64
    let link: UInt32
    let entrySize: UInt64
  }

  package let path: String
  /// 32 or 64.
  package let bits: Int
  /// `e_machine`, for example `ELFFile.machineX86`.
  package let machine: UInt16
  package let kind: Kind
  package let segments: [Segment]

  let file: MappedFile
  let sections: [Section]

  package static let machineX86: UInt16 = 62
  package static let machineAArch64: UInt16 = 183

  /// Reads the headers of `path`.
  ///
  /// - Throws: `FileProblem` if the file cannot be read.
  /// - Returns: nil if it is no ELF file, or one with the other byte order.
  package init?(path: String) throws(FileProblem) {
    let file = try MappedFile(path: path)
    guard file.read(UInt32.self, at: 0) == 0x464C_457F, let elfClass = file.read(UInt8.self, at: 4),
      file.read(UInt8.self, at: 5) == 1, let type = file.read(UInt16.self, at: 16),
      let machine = file.read(UInt16.self, at: 18), elfClass == 1 || elfClass == 2
    else { return nil }
    self.path = path
    self.file = file
    self.machine = machine
    bits = elfClass == 2 ? 64 : 32
    switch type {
    case 2: kind = .executable
    case 3: kind = .sharedObject
    default: kind = .other
    }
    // A program of another word size is only told apart, never read further.
    segments = elfClass == 2 ? Self.readSegments(file) : []
    sections = elfClass == 2 ? Self.readSections(file) : []
  }

  /// Where an entry of a table is; nil if it does not lie in the file as a whole.
  private static func entry(_ index: UInt64, of table: UInt64, _ size: UInt16, _ file: MappedFile) -> UInt64? {
    // Both factors are small, but the table may be said to be anywhere.
    let (start, overflow) = table.addingReportingOverflow(index * UInt64(size))
    return !overflow && file.slice(at: start, size: UInt64(size)) != nil ? start : nil
  }

  private static func readSegments(_ file: MappedFile) -> [Segment] {
    guard let table = file.read(UInt64.self, at: 32), let size = file.read(UInt16.self, at: 54),
      let count = file.read(UInt16.self, at: 56), size >= 56
    else { return [] }
    return (0..<UInt64(count)).compactMap { index in
      guard let start = entry(index, of: table, size, file), let type = file.read(UInt32.self, at: start),
        let flags = file.read(UInt32.self, at: start + 4), let offset = file.read(UInt64.self, at: start + 8),
        let address = file.read(UInt64.self, at: start + 16), let fileSize = file.read(UInt64.self, at: start + 32),
        let memorySize = file.read(UInt64.self, at: start + 40)
      else { return nil }
      return Segment(
        type: type, fileOffset: offset, address: address, fileSize: fileSize, memorySize: memorySize,
        isExecutable: flags & 1 != 0)
    }
  }

  private static func readSections(_ file: MappedFile) -> [Section] {
    guard let table = file.read(UInt64.self, at: 40), let size = file.read(UInt16.self, at: 58),
      let count = file.read(UInt16.self, at: 60), table > 0, size >= 64
    else { return [] }
    // No section may be left out: symbol tables refer to their strings by number.
    var sections: [Section] = []
    for index in 0..<UInt64(count) {
      guard let start = entry(index, of: table, size, file), let type = file.read(UInt32.self, at: start + 4),
        let offset = file.read(UInt64.self, at: start + 24),
        let length = file.read(UInt64.self, at: start + 32), let link = file.read(UInt32.self, at: start + 40),
        let entrySize = file.read(UInt64.self, at: start + 56)
      else { return sections }
      sections.append(Section(type: type, offset: offset, size: length, link: link, entrySize: entrySize))
    }
    return sections
  }

  /// Names of the sections.
  package var sectionNames: Set<String> {
    guard let table = file.read(UInt64.self, at: 40), let size = file.read(UInt16.self, at: 58),
      let names = file.read(UInt16.self, at: 62), Int(names) < sections.count
    else { return [] }
    let texts = sections[Int(names)].offset
    return Set(
      sections.indices.compactMap { index in
        Self.entry(UInt64(index), of: table, size, file).flatMap { file.read(UInt32.self, at: $0) }
          .flatMap { file.text(at: texts &+ UInt64($0)) }
      })
  }

  // MARK: Loading

  private static let segmentLoad: UInt32 = 1
  private static let segmentDynamic: UInt32 = 2
  private static let segmentInterpreter: UInt32 = 3
  private static let segmentNote: UInt32 = 4

  /// The dynamic loader that the file asks for; nil for a static program and for most libraries.
  package var interpreter: String? {
    segments.first { $0.type == Self.segmentInterpreter }.flatMap { file.text(at: $0.fileOffset) }
  }

  /// True if the file is a program that no dynamic loader prepares, so that nothing can be preloaded into it.
  package var isStaticProgram: Bool { kind != .other && interpreter == nil }

  /// Where `address` (as linked) is in the file.
  private func fileOffset(of address: UInt64) -> UInt64? {
    for segment in segments where segment.type == Self.segmentLoad {
      if address >= segment.address, address - segment.address < segment.fileSize {
        return segment.fileOffset &+ (address - segment.address)
      }
    }
    return nil
  }

  private func dynamicValues(_ wanted: UInt64) -> [UInt64] {
    guard let dynamic = segments.first(where: { $0.type == Self.segmentDynamic }) else { return [] }
    var values: [UInt64] = []
    var position = dynamic.fileOffset
    let end = dynamic.fileOffset &+ dynamic.fileSize
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
      $0.type == Self.segmentLoad && $0.isExecutable && address >= $0.address && address - $0.address < $0.memorySize
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
  package var buildID: String {
    for segment in segments where segment.type == Self.segmentNote {
      if let found = buildID(inNotes: segment.fileOffset, size: segment.fileSize) { return found }
    }
    return ""
  }

  private func buildID(inNotes start: UInt64, size: UInt64) -> String? {
    let gnuBuildID: UInt32 = 3
    var position = start
    let end = start &+ size
    while position &+ 12 <= end, let nameSize = file.read(UInt32.self, at: position),
      let valueSize = file.read(UInt32.self, at: position + 4), let type = file.read(UInt32.self, at: position + 8)
    {
      let name = position + 12
      let value = name + (UInt64(nameSize) + 3) & ~3
      if type == gnuBuildID, file.text(at: name) == "GNU", let bytes = file.slice(at: value, size: UInt64(valueSize)) {
        return bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
      }
      position = value + (UInt64(valueSize) + 3) & ~3
    }
    return nil
  }
}
