import UndeadReport

extension HeapFile {
  /// A stretch of glibc's malloc: a part of an arena, or what is known of one.
  package struct MallocPart: Sendable, Equatable {
    package var low: UInt64
    package var high: UInt64
    package var kind: UInt64

    /// Chunks of the main arena, and of another one.
    package static let main: UInt64 = 1
    package static let other: UInt64 = 2
    /// The end of an arena, which was never handed out or came back.
    package static let top: UInt64 = 3
    /// A chunk that a thread keeps: free, but in use for its neighbours.
    package static let kept: UInt64 = 4
    /// Pages that are there.
    package static let pages: UInt64 = 5
  }
}

/// What stands in glibc's malloc beside the blocks, in address order.
struct MallocParts {
  struct Arena {
    var part: HeapFile.MallocPart
    var isMain: Bool
    /// Where the top begins; nil if it does not lie here.
    var top: UInt64?
  }

  private(set) var arenas: [Arena] = []
  private(set) var kept: [HeapFile.MallocPart] = []
  private(set) var pages: [HeapFile.MallocPart] = []

  /// Sorts what a file says, and counts what overlaps once: a damaged file must not count a page twice.
  init(_ file: HeapFile) {
    var tops: [UInt64] = []
    for part in file.malloc.sorted(by: { ($0.low, $0.high) < ($1.low, $1.high) }) {
      switch part.kind {
      case HeapFile.MallocPart.main, HeapFile.MallocPart.other:
        if part.low >= arenas.last?.part.high ?? 0 {
          arenas.append(Arena(part: part, isMain: part.kind == HeapFile.MallocPart.main))
        }
      case HeapFile.MallocPart.top: tops.append(part.low)
      case HeapFile.MallocPart.kept: if part.low >= kept.last?.high ?? 0 { kept.append(part) }
      case HeapFile.MallocPart.pages:
        // Two parts may share a page.
        let low = max(part.low, pages.last?.high ?? 0)
        if low < part.high { pages.append(HeapFile.MallocPart(low: low, high: part.high, kind: part.kind)) }
      default: break
      }
    }
    for top in tops {
      let arena = arenas.partitioningIndex { $0.part.low > top } - 1
      if arena >= 0, top < arenas[arena].part.high { arenas[arena].top = top }
    }
  }
}
