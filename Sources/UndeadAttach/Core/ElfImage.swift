/// What tells one ELF file from another: its headers and its build id.
struct ElfImage {
  /// Reads bytes by their place; fewer if there are not so many.
  typealias Reader = (_ offset: UInt64, _ count: Int) -> [UInt8]

  private static let buildIDLimit = 64
  private static let notesLimit: UInt64 = 1 << 20

  let header: ElfHeader
  let start: [UInt8]
  let programHeaders: [ElfProgramHeader]
  /// Nil if there is none, or it cannot be read.
  let buildID: [UInt8]?

  /// Of a file; nil if it is no ELF file of this machine.
  init?(file: CoreInput) {
    self.init(notesAt: \.offset) { file.read(at: $0, count: $1) }
  }

  /// Of the start of a file as it lies in memory, as far as that was dumped; nil if it is no such file.
  init?(memory: Reader) {
    var first: UInt64?
    self.init { header in
      header.address &- (first ?? 0)
    } loaded: { header in
      if first == nil { first = header.address - header.address % CoreFile.page }
    } read: {
      memory($0, $1)
    }
  }

  private init?(
    notesAt place: (ElfProgramHeader) -> UInt64, loaded: (ElfProgramHeader) -> Void = { _ in }, read: Reader
  ) {
    let start = read(0, ElfHeader.size)
    guard let header = try? ElfHeader(start), header.programHeaderSize == ElfProgramHeader.size else { return nil }
    let size = header.programHeaderCount * ElfProgramHeader.size
    let table = CoreBytes(read(header.programHeaders, size))
    guard table.count == size else { return nil }
    self.header = header
    self.start = start
    programHeaders = (0..<header.programHeaderCount).map { ElfProgramHeader(table, at: $0 * ElfProgramHeader.size) }
    if let first = programHeaders.first(where: { $0.kind == ElfProgramHeader.Kind.load }) { loaded(first) }
    buildID = Self.buildID(programHeaders, place, read)
  }

  private static func buildID(
    _ headers: [ElfProgramHeader], _ place: (ElfProgramHeader) -> UInt64, _ read: Reader
  ) -> [UInt8]? {
    for header in headers where header.kind == ElfProgramHeader.Kind.note && header.fileSize <= notesLimit {
      let notes = ElfNotes(
        CoreBytes(read(place(header), Int(header.fileSize))), alignment: header.alignment)
      if let note = notes.first(where: { $0.name == "GNU" && $0.type == 3 }), note.content.count <= buildIDLimit {
        return note.content.array
      }
    }
    return nil
  }

  /// Whether two of them are of one file; a build id decides if both have one.
  func isSame(as other: ElfImage) -> Bool {
    if let buildID, let id = other.buildID { return buildID == id }
    return start == other.start && programHeaders == other.programHeaders
  }

  /// Which accesses the loader grants to the piece of the file at `offset`.
  func flags(at offset: UInt64) -> UInt32? {
    programHeaders.first {
      $0.kind == ElfProgramHeader.Kind.load && $0.offset - $0.offset % CoreFile.page <= offset
        && offset < $0.offset &+ $0.fileSize
    }?.flags
  }
}
