/// A piece of a file that is loaded into memory, or says how to: an entry of the program header table.
package struct ELFSegment: Equatable {
  package enum Kind {
    package static let load: UInt32 = 1
    package static let dynamic: UInt32 = 2
    package static let interpreter: UInt32 = 3
    package static let note: UInt32 = 4
  }

  package static let size = 56

  package let kind: UInt32
  /// 1 to execute, 2 to write, 4 to read.
  package let flags: UInt32
  package let offset: UInt64
  package let address: UInt64
  package let fileSize: UInt64
  package let memorySize: UInt64
  package let alignment: UInt64

  package var isExecutable: Bool { flags & 1 != 0 }

  package init(_ bytes: Bytes, at offset: Int) {
    kind = bytes.number(at: offset)
    flags = bytes.number(at: offset + 4)
    self.offset = bytes.number(at: offset + 8)
    address = bytes.number(at: offset + 16)
    fileSize = bytes.number(at: offset + 32)
    memorySize = bytes.number(at: offset + 40)
    alignment = bytes.number(at: offset + 48)
  }
}
