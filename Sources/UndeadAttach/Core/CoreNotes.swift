import UndeadSystem

/// A thread as a core file shows it.
package struct CoreThread: Equatable, Sendable {
  package var id: Int32
  /// That ended it, or it stopped with; 0 if none.
  package var signal: Int
  /// `struct user_regs_struct`.
  package var registers: [UInt64]
  /// XSAVE area; empty if the core has none.
  package var extendedState: [UInt8] = []

  enum Register {
    static let stackPointer = 19
    static let systemCall = 15
    static let fsBase = 21
    static let count = 27
  }

  package var stackPointer: UInt64 { registers[Register.stackPointer] }
  package var fsBase: UInt64 { registers[Register.fsBase] }
  /// True if the thread stood in a system call.
  package var isInSystemCall: Bool { Int64(bitPattern: registers[Register.systemCall]) >= 0 }
}

/// A piece of a file that the program had mapped.
package struct CoreMappedFile: Equatable, Sendable {
  package var low: UInt64
  package var high: UInt64
  /// In the file.
  package var offset: UInt64
  package var path: String
}

/// What the notes of a core file say of the process.
package struct CoreNotes: Equatable, Sendable {
  package internal(set) var threads: [CoreThread] = []
  package internal(set) var files: [CoreMappedFile] = []
  package internal(set) var processID: Int32 = 0
  /// As in the process list: cut after 15 bytes.
  package internal(set) var commandName = ""
  /// Cut after 79 bytes.
  package internal(set) var arguments = ""
  /// Keys and values that the kernel gave to the program.
  package internal(set) var auxiliary: [UInt64: UInt64] = [:]
  /// That ended the process, if it is known.
  package internal(set) var signal: Int?

  enum Auxiliary {
    static let programHeaders: UInt64 = 3
    static let random: UInt64 = 25
    static let executableName: UInt64 = 31
    static let vdso: UInt64 = 33
  }

  /// Numbers of <elf.h>, sizes of x86-64's structures.
  private enum Kind {
    static let status: UInt32 = 1
    static let process: UInt32 = 3
    static let auxiliary: UInt32 = 6
    static let files: UInt32 = 0x4649_4C45
    static let signal: UInt32 = 0x5349_4749
    static let extendedState: UInt32 = 0x202
    static let statusSize = 336
    static let processSize = 136
    static let signalSize = 12
  }

  /// - Parameter offset: of the notes in the core file.
  mutating func add(_ bytes: Bytes, at offset: UInt64) throws(AttachError) {
    var notes = ELFNotes(bytes)
    while let note = notes.next() {
      let place = offset + UInt64(note.offset)
      switch (note.name, note.type) {
      case ("CORE", Kind.status): try addThread(note.content, place)
      case ("CORE", Kind.process): try addProcess(note.content, place)
      case ("CORE", Kind.auxiliary): addAuxiliary(note.content)
      case ("CORE", Kind.files): try addFiles(note.content, place)
      case ("CORE", Kind.signal) where note.content.count >= Kind.signalSize && signal == nil:
        signal = Int(note.content.number(at: 0, as: Int32.self))
      case ("LINUX", Kind.extendedState) where !threads.isEmpty:
        threads[threads.count - 1].extendedState = note.content.array
      default: break
      }
    }
    if let damage = notes.damage {
      throw .misuse("the note at byte \(offset + UInt64(damage)) is longer than the notes; the file is damaged")
    }
  }

  private mutating func addThread(_ content: Bytes, _ place: UInt64) throws(AttachError) {
    guard content.count == Kind.statusSize else {
      throw .misuse(
        "the state of a thread at byte \(place) has \(content.count) bytes, an x86-64 Linux one has \(Kind.statusSize)")
    }
    let registers = (0..<CoreThread.Register.count).map { content.number(at: 112 + $0 * 8, as: UInt64.self) }
    threads.append(
      CoreThread(
        id: content.number(at: 32), signal: Int(content.number(at: 12, as: Int16.self)), registers: registers))
  }

  private mutating func addProcess(_ content: Bytes, _ place: UInt64) throws(AttachError) {
    guard content.count == Kind.processSize else {
      throw .misuse(
        "the state of the process at byte \(place) has \(content.count) bytes, an x86-64 Linux one has "
          + "\(Kind.processSize)")
    }
    processID = content.number(at: 24)
    commandName = content.text(at: 40, limit: 16)
    arguments = content.text(at: 56, limit: 80)
    while arguments.last == " " { arguments.removeLast() }
  }

  private mutating func addAuxiliary(_ content: Bytes) {
    for offset in stride(from: 0, to: content.count - 15, by: 16) {
      let key: UInt64 = content.number(at: offset)
      if key == 0 { return }
      auxiliary[key] = content.number(at: offset + 8)
    }
  }

  private mutating func addFiles(_ content: Bytes, _ place: UInt64) throws(AttachError) {
    func damaged(_ what: String) -> AttachError {
      .misuse("the list of mapped files at byte \(place) \(what); the file is damaged")
    }
    let count: UInt64 = content.number(at: 0)
    let page: UInt64 = content.number(at: 8)
    guard content.count >= 16, count <= UInt64((content.count - 16) / 24) else {
      throw damaged("names \(count) files and has no room for them")
    }
    guard page > 0, page <= 1 << 30 else { throw damaged("has pages of \(page) bytes") }
    var name = 16 + Int(count) * 24
    for index in 0..<Int(count) {
      let entry = 16 + index * 24
      guard let end = content.zero(from: name) else { throw damaged("has no name for file \(index)") }
      let low: UInt64 = content.number(at: entry)
      let high: UInt64 = content.number(at: entry + 8)
      let (offset, overflow) = content.number(at: entry + 16, as: UInt64.self).multipliedReportingOverflow(by: page)
      guard low < high, high <= CoreFile.userEnd, !overflow, offset <= UInt64(Int64.max) - high else {
        throw damaged("has an impossible place for file \(index)")
      }
      files.append(CoreMappedFile(low: low, high: high, offset: offset, path: content.text(at: name)))
      name = end + 1
    }
  }

  /// Lists are asked by address from now on.
  mutating func complete() throws(AttachError) {
    files.sort { $0.low < $1.low }
    for (one, next) in zip(files, files.dropFirst()) where one.high > next.low {
      throw .misuse("two files were mapped at \(hex(next.low)); the list of mapped files is damaged")
    }
    if processID == 0, let first = threads.map(\.id).min() { processID = first }
  }

  func file(at address: UInt64) -> CoreMappedFile? {
    let index = files.partitioningIndex { $0.high > address }
    return index < files.count && files[index].low <= address ? files[index] : nil
  }
}
