import UndeadSystem

/// An ELF core file of an x86-64 Linux process, as kernels and debuggers write it. Everything in it is checked.
package final class CoreFile: Sendable {
  let input: CoreInput
  /// In address order; they do not overlap.
  package let segments: [CoreSegment]
  package let notes: CoreNotes

  package var path: String { input.path }
  package var fileSize: UInt64 { input.size }

  /// Addresses of programs end here; what the kernel has beyond is not the program's.
  static let userEnd: UInt64 = 0x7FFF_FFFF_F000
  static let page: UInt64 = 4096
  private static let segmentLimit: UInt64 = 1 << 20
  private static let notesLimit: UInt64 = 256 << 20

  /// True if a file is a core file: nothing else about it is checked.
  package static func isCore(path: String) -> Bool {
    guard let input = try? CoreInput(path: path) else { return false }
    return ELFHeader(Bytes(input.read(at: 0, count: ELFHeader.size)))?.kind == .core
  }

  /// True if a file is compressed: what is in it is not known.
  package static func isCompressed(path: String) -> Bool {
    guard let input = try? CoreInput(path: path) else { return false }
    return CoreCompression.hint(input.read(at: 0, count: 8), path: path) != nil
  }

  package convenience init(path: String) throws(AttachError) {
    let input = try CoreInput(path: path)
    do throws(AttachError) {
      try self.init(input)
    } catch {
      throw .misuse("cannot read the core file '\(path)': \(error)")
    }
  }

  init(_ input: CoreInput) throws(AttachError) {
    self.input = input
    let start = input.read(at: 0, count: ELFHeader.size)
    if let hint = CoreCompression.hint(start, path: input.path) { throw .misuse(hint) }
    let header = try Self.header(start)
    var segments: [CoreSegment] = []
    var notes = CoreNotes()
    for (index, entry) in try Self.programHeaders(header, input).enumerated() {
      switch entry.kind {
      case ELFSegment.Kind.load:
        if let segment = try Self.segment(entry, index, input) { segments.append(segment) }
      case ELFSegment.Kind.note: try Self.read(entry, index, input, &notes)
      default: break
      }
    }
    segments.sort { $0.address < $1.address }
    for (one, next) in zip(segments, segments.dropFirst()) where one.end > next.address {
      throw .misuse("two segments overlap at address \(hex(next.address)); the file is damaged")
    }
    try notes.complete()
    guard !notes.threads.isEmpty else { throw .misuse("it tells of no thread (NT_PRSTATUS); the file is damaged") }
    guard !segments.isEmpty else { throw .misuse("it holds no memory; the file is damaged") }
    self.segments = segments
    self.notes = notes
  }

  // MARK: Headers

  private static func header(_ bytes: [UInt8]) throws(AttachError) -> ELFHeader {
    guard let header = ELFHeader(Bytes(bytes)) else { throw .misuse("it does not start as an ELF file does") }
    guard bytes.count == ELFHeader.size else {
      throw .misuse("it ends at byte \(bytes.count), inside of the ELF header")
    }
    guard header.bits == 64 else { throw .misuse("it is of a 32-bit program; only x86-64 is understood") }
    guard header.isLittleEndian else { throw .misuse("it is of a big-endian machine; only x86-64 is understood") }
    guard header.machine == ELFHeader.Machine.x86 else {
      throw .misuse(
        "it is of another machine (\(ELFHeader.Machine.name(of: header.machine))); only x86-64 is understood")
    }
    guard header.kind == .core else { throw .misuse("it is a program or a library, no core file") }
    return header
  }

  private static func programHeaders(
    _ header: ELFHeader, _ input: CoreInput
  ) throws(AttachError) -> [ELFSegment] {
    guard header.segments.entrySize == ELFSegment.size else {
      throw .misuse("byte 54: its program headers have \(header.segments.entrySize) bytes, not \(ELFSegment.size)")
    }
    let count = try programHeaderCount(header, input)
    guard count <= segmentLimit else {
      throw .misuse("it has \(count) segments; at most \(segmentLimit) are understood")
    }
    let size = count * UInt64(ELFSegment.size)
    guard header.segments.offset <= input.size, size <= input.size - header.segments.offset else {
      throw .misuse(
        "its \(count) program headers at byte \(header.segments.offset) lie beyond the end of the file "
          + "(\(input.size) bytes): it was cut off, or is damaged")
    }
    let bytes = Bytes(input.read(at: header.segments.offset, count: Int(size)))
    guard bytes.count == Int(size) else { throw .misuse("its program headers cannot be read") }
    return (0..<Int(count)).map { ELFSegment(bytes, at: $0 * ELFSegment.size) }
  }

  /// With 65535 segments or more the number is in the first section header.
  private static func programHeaderCount(_ header: ELFHeader, _ input: CoreInput) throws(AttachError) -> UInt64 {
    guard header.segments.count == 0xFFFF else { return UInt64(header.segments.count) }
    let section = Bytes(input.read(at: header.sections.offset, count: 64))
    guard header.sections.offset > 0, header.sections.entrySize == 64, section.count == 64 else {
      throw .misuse("the number of its segments, at byte \(header.sections.offset), lies beyond the end of the file")
    }
    return UInt64(section.number(at: 44, as: UInt32.self))
  }

  private static func segment(
    _ entry: ELFSegment, _ index: Int, _ input: CoreInput
  ) throws(AttachError) -> CoreSegment? {
    guard entry.memorySize > 0, entry.address < userEnd else { return nil }
    guard entry.memorySize <= userEnd - entry.address else {
      throw .misuse("segment \(index) at \(hex(entry.address)) has \(entry.memorySize) bytes; the file is damaged")
    }
    guard entry.address % page == 0, entry.memorySize % page == 0 else {
      throw .misuse("segment \(index) at \(hex(entry.address)) is not made of pages; the file is damaged")
    }
    guard entry.fileSize <= entry.memorySize, entry.offset <= UInt64(Int64.max) - entry.fileSize else {
      throw .misuse("the contents of segment \(index) at \(hex(entry.address)) do not fit it; the file is damaged")
    }
    let present = entry.offset >= input.size ? 0 : min(entry.fileSize, input.size - entry.offset)
    return CoreSegment(
      address: entry.address, size: entry.memorySize, offset: entry.offset, dumped: entry.fileSize, present: present,
      isReadable: entry.flags & 4 != 0, isWritable: entry.flags & 2 != 0, isExecutable: entry.flags & 1 != 0)
  }

  private static func read(
    _ entry: ELFSegment, _ index: Int, _ input: CoreInput, _ notes: inout CoreNotes
  ) throws(AttachError) {
    guard entry.fileSize <= notesLimit else {
      throw .misuse("the notes of segment \(index) have \(entry.fileSize) bytes; at most \(notesLimit) are understood")
    }
    let bytes = input.read(at: entry.offset, count: Int(entry.fileSize))
    guard bytes.count == Int(entry.fileSize) else {
      throw .misuse(
        "the notes at byte \(entry.offset), which tell of the threads, lie beyond the end of the file "
          + "(\(input.size) bytes): it was cut off, or is damaged")
    }
    try notes.add(Bytes(bytes), at: entry.offset)
  }

  // MARK: Memory

  package func segment(at address: UInt64) -> CoreSegment? {
    let index = segments.partitioningIndex { $0.end > address }
    return index < segments.count && segments[index].address <= address ? segments[index] : nil
  }

  /// What was dumped at an address, up to `count` bytes; fewer where that ends.
  package func memory(at address: UInt64, count: Int) -> [UInt8] {
    guard let segment = segment(at: address), address - segment.address < segment.present, count > 0 else { return [] }
    let skipped = address - segment.address
    return input.read(at: segment.offset + skipped, count: Int(min(UInt64(count), segment.present - skipped)))
  }

  /// A text that ends with a zero; nil if it was not dumped as a whole.
  package func text(at address: UInt64, limit: Int = 4096) -> String? {
    let bytes = memory(at: address, count: limit)
    return bytes.firstIndex(of: 0).map { String(decoding: bytes[..<$0], as: UTF8.self) }
  }

  /// The path of the program, as the kernel gave it to the program, else of its first file.
  package var executable: String {
    if let header = notes.auxiliary[CoreNotes.Auxiliary.programHeaders], let file = notes.file(at: header) {
      return file.path
    }
    return notes.auxiliary[CoreNotes.Auxiliary.executableName].flatMap { text(at: $0) } ?? notes.commandName
  }

  /// The signal that ended the program; nil if a debugger wrote the file while the program ran.
  package var endingSignal: Int? {
    // Those after which kernels write core files.
    let signals: Set<Int32> = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS]
    guard let signal = notes.signal, signals.contains(Int32(truncatingIfNeeded: signal)) else { return nil }
    return signal
  }

  /// The first thread of the program, else the one that comes first.
  package var mainThread: CoreThread {
    notes.threads.first { $0.id == notes.processID } ?? notes.threads[0]
  }
}
