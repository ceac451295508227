/// The numbers of the snapshot format (`Documentation/snapshot-format.md`).
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
    case heapWaits, allocations
    case refuted = 36
    case heapMalloc, heapRootWords, heapHolders, heapStacks, descriptors, threads, heapTasks
    case ownerFields, heapStackWords, heapInnerWords, heapQueues, heapTaskMemory

    /// Bytes of an entry in this version; later ones may be longer.
    package var entrySize: Int {
      switch self {
      case .strings, .zombies, .runLoops, .heapGraph, .heapRootEdges: 1
      case .steps, .notes: 4
      case .metadata, .stacks, .frames, .heapQueues: 8
      case .counters, .suspects, .heapWaits, .symbols, .diagnostics, .traces, .owners, .heapShapes, .heapGenerations,
        .heapSites, .heapHolders, .descriptors, .threads, .ownerFields, .heapStackWords, .heapInnerWords,
        .heapTaskMemory:
        16
      case .types, .watched, .heapRoots, .heapMemory, .heapMalloc, .heapStacks, .census: 24
      case .symbolFrames, .loopItems, .heapPlaces: 32
      case .refuted, .heapRootWords, .heapTasks: 64
      case .modules, .nodes, .edges, .paths, .allocations: 40
      }
    }
  }

  /// Of the bytes of a file behind its header.
  package static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var checksum = SnapshotChecksum()
    if bytes.count > headerSize { checksum.add(UnsafeRawBufferPointer(rebasing: bytes[headerSize...])) }
    return checksum.value
  }
}

/// FNV-1a over 8-byte words.
package struct SnapshotChecksum {
  package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  /// Adds bytes; where they end within a word, zeros are added to fill it.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    let whole = bytes.count & ~7
    var hash = value
    for offset in stride(from: 0, to: whole, by: 8) {
      hash = (hash ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))) &* Self.prime
    }
    if whole < bytes.count {
      var last: UInt64 = 0
      withUnsafeMutableBytes(of: &last) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[whole...])) }
      hash = (hash ^ UInt64(littleEndian: last)) &* Self.prime
    }
    value = hash
  }

  private static let prime: UInt64 = 0x100_0000_01b3
}
