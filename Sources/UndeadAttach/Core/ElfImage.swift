import UndeadSystem

/// What distinguishes one ELF file from another: its headers and its build id.
struct ElfImage {
  private let start: [UInt8]
  let segments: [ELFSegment]
  /// Nil if there is none, or it cannot be read.
  let buildID: Bytes?

  /// Of a file; nil if it is no ELF file of this machine.
  init?(file: CoreInput) {
    self.init(isLoaded: false) { file.read(at: $0, count: $1) }
  }

  /// Of the start of a file as it lies in memory, as far as that was dumped; nil if it is no such file.
  init?(memory: ELFHeader.Reader) {
    self.init(isLoaded: true, memory)
  }

  private init?(isLoaded: Bool, _ read: ELFHeader.Reader) {
    start = read(0, ELFHeader.size)
    guard let header = ELFHeader(Bytes(start)), header.machine == ELFHeader.Machine.x86 else { return nil }
    let segments = header.segments(read)
    guard segments.count == header.segments.count else { return nil }
    self.segments = segments
    let first = segments.first { $0.kind == ELFSegment.Kind.load }?.address ?? 0
    let base = first - first % CoreFile.page
    buildID = segments.buildID(at: { isLoaded ? $0.address &- base : $0.offset }, read)
  }

  /// Whether two of them are of one file; a build id decides if both have one.
  func isSame(as other: ElfImage) -> Bool {
    if let buildID, let id = other.buildID { return buildID == id }
    return start == other.start && segments == other.segments
  }

  /// Which accesses the loader grants to the piece of the file at `offset`.
  func flags(at offset: UInt64) -> UInt32? {
    segments.first {
      $0.kind == ELFSegment.Kind.load && $0.offset - $0.offset % CoreFile.page <= offset
        && offset < $0.offset &+ $0.fileSize
    }?.flags
  }
}
