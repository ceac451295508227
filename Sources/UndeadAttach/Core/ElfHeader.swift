/// The first bytes of an ELF file.
struct ElfHeader: Equatable {
  enum Kind: UInt16 {
    case relocatable = 1
    case executable, shared, core
  }

  /// Numbers of <elf.h>.
  private enum Format {
    static let magic: [UInt8] = [0x7F, 0x45, 0x4C, 0x46]
    static let class64: UInt8 = 2
    static let littleEndian: UInt8 = 1
    static let machine: UInt16 = 62
  }

  static let size = 64

  var kind: UInt16
  var programHeaders: UInt64
  var programHeaderSize: Int
  var programHeaderCount: Int
  var sectionHeaders: UInt64
  var sectionHeaderSize: Int

  static func isElf(_ bytes: [UInt8]) -> Bool { bytes.starts(with: Format.magic) }

  static func isCore(_ bytes: [UInt8]) -> Bool {
    guard isElf(bytes), bytes.count >= 18 else { return false }
    // The order of the two bytes is what byte 5 says.
    return bytes[5] == 2 ? bytes[16] == 0 && bytes[17] == 4 : bytes[16] == 4 && bytes[17] == 0
  }

  /// - Throws: `AttachError`: what kind of file it is instead.
  init(_ bytes: [UInt8]) throws(AttachError) {
    guard Self.isElf(bytes) else { throw .misuse("it does not start as an ELF file does") }
    guard bytes.count >= Self.size else { throw .misuse("it ends at byte \(bytes.count), inside of the ELF header") }
    guard bytes[4] == Format.class64 else { throw .misuse("it is of a 32-bit program; only x86-64 is understood") }
    guard bytes[5] == Format.littleEndian else {
      throw .misuse("it is of a big-endian machine; only x86-64 is understood")
    }
    let content = CoreBytes(bytes)
    let machine: UInt16 = content.number(at: 18)
    guard machine == Format.machine else {
      throw .misuse("it is of \(Self.name(machine)); only x86-64 is understood")
    }
    kind = content.number(at: 16)
    programHeaders = content.number(at: 32)
    sectionHeaders = content.number(at: 40)
    programHeaderSize = Int(content.number(at: 54, as: UInt16.self))
    programHeaderCount = Int(content.number(at: 56, as: UInt16.self))
    sectionHeaderSize = Int(content.number(at: 58, as: UInt16.self))
  }

  private static func name(_ machine: UInt16) -> String {
    let known: [UInt16: String] = [
      3: "a 32-bit x86 program", 21: "a ppc64 machine", 22: "an s390x machine", 40: "a 32-bit ARM machine",
      183: "an arm64 machine", 243: "a RISC-V machine", 258: "a LoongArch machine",
    ]
    return known[machine] ?? "machine type \(machine)"
  }
}

/// An entry of the program header table.
struct ElfProgramHeader: Equatable {
  enum Kind {
    static let load: UInt32 = 1
    static let dynamic: UInt32 = 2
    static let note: UInt32 = 4
  }

  static let size = 56

  var kind: UInt32
  var flags: UInt32
  var offset: UInt64
  var address: UInt64
  var fileSize: UInt64
  var memorySize: UInt64
  var alignment: UInt64

  init(_ bytes: CoreBytes, at offset: Int) {
    kind = bytes.number(at: offset)
    flags = bytes.number(at: offset + 4)
    self.offset = bytes.number(at: offset + 8)
    address = bytes.number(at: offset + 16)
    fileSize = bytes.number(at: offset + 32)
    memorySize = bytes.number(at: offset + 40)
    alignment = bytes.number(at: offset + 48)
  }
}

/// Notes: named, typed pieces.
struct ElfNotes: Sequence, IteratorProtocol {
  struct Note {
    var name: String
    var type: UInt32
    var content: CoreBytes
    /// In the bytes of all notes.
    var offset: Int
  }

  private let bytes: CoreBytes
  private let padding: Int
  private var offset = 0
  /// Where a note begins that does not fit.
  private(set) var damage: Int?

  /// - Parameter alignment: of the segment they are in; notes are padded to 4 bytes, in some segments to 8.
  init(_ bytes: CoreBytes, alignment: UInt64 = 4) {
    self.bytes = bytes
    padding = alignment == 8 ? 8 : 4
  }

  private func padded(_ size: Int) -> Int { (size + padding - 1) / padding * padding }

  mutating func next() -> Note? {
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
