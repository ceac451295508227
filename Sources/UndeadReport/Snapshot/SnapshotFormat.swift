/// The numbers of the snapshot format; `Documentation/snapshot-format.md` explains each.
package enum SnapshotFormat {
  package static let magic: [UInt8] = Array("UNDEAD\r\n".utf8)
  package static let headerSize = 64
  package static let sectionEntrySize = 32
  package static let byteOrderMark: UInt32 = 0x0102_0304
  package static let pointerSize: UInt32 = 8
  package static let completeFlag: UInt32 = 1
  /// Longest string that a reader takes, in bytes: far above any name, far below what could exhaust memory.
  package static let longestString = 1 << 20

  package enum Section: UInt32, CaseIterable, Sendable {
    case strings = 1
    case metadata, counters, modules, types, nodes, edges, stacks, frames, paths, steps, suspects, notes, symbols
    case symbolFrames, zombies, diagnostics, watched, loopItems, runLoops, traces, owners
    case heapGraph, heapShapes, heapSites, heapPlaces, heapRoots, heapRootEdges, heapMemory, heapGenerations, census

    /// Bytes of an entry in this version; later ones may be longer.
    package var entrySize: Int {
      switch self {
      case .strings, .zombies, .runLoops, .heapGraph, .heapRootEdges: 1
      case .steps, .notes: 4
      case .metadata, .stacks, .frames, .heapSites: 8
      case .counters, .suspects, .symbols, .diagnostics, .traces, .owners, .heapShapes, .heapGenerations: 16
      case .types, .watched, .heapRoots, .heapMemory, .census: 24
      case .symbolFrames, .loopItems, .heapPlaces: 32
      case .modules, .nodes, .edges, .paths: 40
      }
    }
  }

  /// FNV-1a over 8-byte words.
  package static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for offset in stride(from: headerSize, to: bytes.count - 7, by: 8) {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      hash = (hash ^ word) &* 0x100_0000_01b3
    }
    return hash
  }
}
