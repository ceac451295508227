/// The first bytes of an ELF file, wherever they lie: in a file, or in the memory of a process.
package struct ELFHeader: Equatable {
  package enum Kind: UInt16 {
    case relocatable = 1
    case executable, shared, core
  }

  /// Numbers of <elf.h>.
  package enum Machine {
    package static let x86: UInt16 = 62

    /// What messages call it.
    package static func name(of number: UInt16) -> String { names[number] ?? "machine \(number)" }

    private static let names: [UInt16: String] = [
      3: "x86", 21: "ppc64", 22: "s390x", 40: "ARM", x86: "x86-64", 183: "arm64", 243: "RISC-V", 258: "LoongArch",
    ]
  }

  /// Where a table is in the file.
  package struct Table: Equatable {
    package let offset: UInt64
    package let entrySize: Int
    package let count: Int

    init(_ bytes: Bytes, offset: Int, entrySize: Int) {
      self.offset = bytes.number(at: offset)
      self.entrySize = Int(bytes.number(at: entrySize, as: UInt16.self))
      count = Int(bytes.number(at: entrySize + 2, as: UInt16.self))
    }

    /// Where its entries are in the bytes of it; as many as there are in full.
    package func entries(in bytes: Bytes, ofAtLeast size: Int) -> some Sequence<Int> {
      stride(from: 0, through: entrySize < size ? -1 : bytes.count - size, by: max(1, entrySize))
    }
  }

  package static let size = 64

  /// 32 or 64.
  package let bits: Int
  package let isLittleEndian: Bool
  package let kind: Kind?
  package let machine: UInt16
  /// What follows holds for 64 bits and little-endian machines only.
  package let segments: Table
  package let sections: Table
  /// Which section has the names of all.
  package let namesSection: Int

  /// - Parameter bytes: the first ``size`` of a file; if there are fewer, the rest counts as zero.
  /// - Returns: nil if no ELF file begins so.
  package init?(_ bytes: Bytes) {
    let magic: UInt32 = 0x464C_457F
    let elfClass: UInt8 = bytes.number(at: 4)
    let order: UInt8 = bytes.number(at: 5)
    guard bytes.count >= 20, bytes.number(at: 0) == magic, (1...2).contains(elfClass), (1...2).contains(order) else {
      return nil
    }
    bits = elfClass == 2 ? 64 : 32
    isLittleEndian = order == 1
    let numbers = [16, 18].map { bytes.number(at: $0, as: UInt16.self) }.map { order == 1 ? $0 : $0.byteSwapped }
    kind = Kind(rawValue: numbers[0])
    machine = numbers[1]
    segments = Table(bytes, offset: 32, entrySize: 54)
    sections = Table(bytes, offset: 40, entrySize: 58)
    namesSection = Int(bytes.number(at: 62, as: UInt16.self))
  }
}

extension ELFHeader {
  /// Reads bytes by their place; fewer if there are not so many.
  package typealias Reader = (_ offset: UInt64, _ count: Int) -> [UInt8]

  /// All segments, as far as they can be read.
  package func segments(_ read: Reader) -> [ELFSegment] {
    guard bits == 64, isLittleEndian else { return [] }
    let bytes = Bytes(read(segments.offset, segments.entrySize * segments.count))
    return segments.entries(in: bytes, ofAtLeast: ELFSegment.size).map { ELFSegment(bytes, at: $0) }
  }
}

extension [ELFSegment] {
  private static let largestBuildID = 64
  private static let largestNotes: UInt64 = 1 << 20
  private static let buildIDNote: UInt32 = 3

  /// The linker's build id; nil if there is none, or it cannot be read.
  ///
  /// - Parameter place: where a segment is for `read`.
  package func buildID(at place: (ELFSegment) -> UInt64 = \.offset, _ read: ELFHeader.Reader) -> Bytes? {
    for segment in self where segment.kind == ELFSegment.Kind.note && segment.fileSize <= Self.largestNotes {
      let notes = ELFNotes(Bytes(read(place(segment), Int(segment.fileSize))), alignment: segment.alignment)
      let note = notes.first { $0.name == "GNU" && $0.type == Self.buildIDNote }
      if let note, note.content.count <= Self.largestBuildID { return note.content }
    }
    return nil
  }
}
