import UndeadReport

/// The free memory of glibc's malloc, page by page: what `malloc_trim(0)` would give back, and what blocks keep.
///
/// glibc joins free chunks that touch, then gives back the whole pages inside of each, and the end of the main arena. The end of
/// any other arena it keeps (mtrim and systrim in malloc/malloc.c, the tags glibc-2.26 to glibc-2.43). In a recorded process what
/// threads keep is not known: it counts as free.
package struct MallocPages {
  /// What keeps pages: a type, and where its blocks were allocated.
  package struct Pin: Hashable {
    package var group: Int
    var site: UInt32
  }

  package struct Pinned {
    package var blocks = 0
    package var pages = 0
    package var bytes: UInt64 = 0
    /// One of the blocks.
    package var block = 0
  }

  package private(set) var trimmableBytes: UInt64 = 0
  /// Free bytes on pages that blocks lie on.
  package private(set) var pinnedBytes: UInt64 = 0
  package private(set) var pins: [Pin: Pinned] = [:]
  package private(set) var arenas = 0
  /// The ends of arenas that nothing gives back.
  package private(set) var topBytes: UInt64 = 0

  private let heap: LoadedHeap
  private let parts: MallocParts
  /// The next of `parts.kept`, and of `parts.pages`.
  private var kept = 0
  private var run = 0
  /// The blocks of the page that is looked at, and its bytes that are in use.
  private var page: UInt64 = .max
  private var used: UInt64 = 0
  private var blocks: [Int] = []
  /// What of the arena is given back, in address order.
  private var trimmed: [Range<UInt64>] = []
  private var lastPinned: [Pin: Int] = [:]

  private static let pageBytes: UInt64 = 4096
  private static let chunkHeader: UInt64 = 16
  /// What glibc needs at the start of a free chunk (struct malloc_chunk), and at the end of an arena (MINSIZE).
  private static let freeHeader: UInt64 = 48
  private static let smallestChunk: UInt64 = 32

  package init(_ heap: LoadedHeap) {
    self.heap = heap
    parts = MallocParts(heap.file)
    arenas = parts.arenas.count { $0.top != nil }
    for arena in parts.arenas { add(arena) }
  }

  private static func down(_ address: UInt64) -> UInt64 { address & ~(pageBytes - 1) }
  private static func up(_ address: UInt64) -> UInt64 { down(address &+ pageBytes - 1) }

  /// Walks what is in use in an arena: blocks, and what threads keep. Both are in address order.
  private mutating func add(_ arena: MallocParts.Arena) {
    let (low, high) = (arena.part.low, arena.part.high)
    var block = (0..<heap.graph.count).partitioningIndex { heap.graph.addresses[$0] > low }
    while kept < parts.kept.count, parts.kept[kept].low < low { kept += 1 }
    var end = low
    while true {
      let address = block < heap.graph.count ? heap.graph.addresses[block] &- Self.chunkHeader : .max
      let next = kept < parts.kept.count ? parts.kept[kept].low : .max
      let start = min(address, next)
      guard start < high else { break }
      free(end, start)
      if address <= next {
        // The last word of a block is the first one of the chunk behind it.
        let size = heap.graph.size(block) &+ Self.chunkHeader / 2
        use(address, min(address &+ size, high), block)
        end = max(end, address &+ size)
        block += 1
      } else {
        use(next, min(parts.kept[kept].high, high), nil)
        end = max(end, parts.kept[kept].high)
        kept += 1
      }
    }
    endPage()
    // What is free before the top joins it.
    let top = arena.top == nil ? high : end
    free(end, top)
    if arena.isMain { freeTop(top, high) }
    trimmableBytes += residentBytes(trimmed)
    trimmed.removeAll(keepingCapacity: true)
    if !arena.isMain, top < high { topBytes += residentBytes([Self.up(top)..<max(Self.up(top), Self.down(high))]) }
  }

  private mutating func free(_ low: UInt64, _ high: UInt64) {
    guard low < high, high - low > Self.freeHeader else { return }
    let (first, last) = (Self.up(low + Self.freeHeader), Self.down(high))
    if first < last { trimmed.append(first..<last) }
  }

  private mutating func freeTop(_ low: UInt64, _ high: UInt64) {
    guard low < high, high - low > Self.smallestChunk else { return }
    let bytes = Self.down(high - low - Self.smallestChunk - 1)
    if bytes > 0 { trimmed.append(high - bytes..<high) }
  }

  private mutating func use(_ low: UInt64, _ high: UInt64, _ block: Int?) {
    var at = low
    while at < high {
      let next = Self.down(at) + Self.pageBytes
      if Self.down(at) != page {
        endPage()
        page = Self.down(at)
      }
      used += min(next, high) - at
      if let block { blocks.append(block) }
      // Pages that a block fills have nothing free.
      at = min(next, high) == next ? max(next, Self.down(high)) : high
    }
  }

  private mutating func endPage() {
    defer { (page, used) = (.max, 0) }
    guard page != .max, !blocks.isEmpty else { return }
    defer { blocks.removeAll(keepingCapacity: true) }
    guard used < Self.pageBytes, isThere(page) else { return }
    charge(Self.pageBytes - used)
  }

  /// To what most blocks of the page are.
  private mutating func charge(_ bytes: UInt64) {
    var counts: [(pin: Pin, count: Int, block: Int)] = []
    for block in blocks {
      let pin = Pin(group: heap.group(block), site: heap.graph.sites[block])
      if let known = counts.firstIndex(where: { $0.pin == pin }) {
        counts[known].count += 1
      } else {
        counts.append((pin, 1, block))
      }
    }
    let most = counts.max { $0.count < $1.count }!
    pinnedBytes += bytes
    var pinned = pins[most.pin] ?? Pinned(block: most.block)
    pinned.pages += 1
    pinned.bytes += bytes
    // One that lies on two pages counts once.
    pinned.blocks += most.count - (lastPinned[most.pin] == most.block ? 1 : 0)
    lastPinned[most.pin] = blocks.last
    pins[most.pin] = pinned
  }

  private mutating func isThere(_ page: UInt64) -> Bool {
    while run < parts.pages.count, parts.pages[run].high <= page { run += 1 }
    return run < parts.pages.count && parts.pages[run].low <= page
  }

  /// Of ranges in address order.
  private func residentBytes(_ ranges: [Range<UInt64>]) -> UInt64 {
    guard let first = ranges.first else { return 0 }
    var bytes: UInt64 = 0
    var run = parts.pages.partitioningIndex { $0.high > first.lowerBound }
    for range in ranges {
      while run < parts.pages.count, parts.pages[run].high <= range.lowerBound { run += 1 }
      var here = run
      while here < parts.pages.count, parts.pages[here].low < range.upperBound {
        let part = parts.pages[here]
        bytes += min(part.high, range.upperBound) - max(part.low, range.lowerBound)
        here += 1
      }
    }
    return bytes
  }
}
