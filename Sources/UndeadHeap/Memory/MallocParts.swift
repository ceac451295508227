import UndeadReport
import UndeadSystem

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
    for part in file.malloc.ordered(by: { ($0.low, $0.high) < ($1.low, $1.high) }) {
      switch part.kind {
      case HeapFile.MallocPart.main, HeapFile.MallocPart.other:
        if part.low >= arenas.last?.part.high ?? 0 {
          arenas.append(Arena(part: part, isMain: part.kind == HeapFile.MallocPart.main))
        }
      case HeapFile.MallocPart.top: tops.append(part.low)
      case HeapFile.MallocPart.kept: if part.low >= kept.last?.high ?? 0 { kept.append(part) }
      case HeapFile.MallocPart.pages:
        // Two parts may share a page.
        var part = part
        part.low = max(part.low, pages.last?.high ?? 0)
        if part.low < part.high { pages.append(part) }
      default: break
      }
    }
    for top in tops {
      let arena = arenas.partitioningIndex { $0.part.low > top } - 1
      if arena >= 0, top < arenas[arena].part.high { arenas[arena].top = top }
    }
  }
}
