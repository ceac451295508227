import Testing
import UndeadHeapSamples
import UndeadTestSupport

@testable import UndeadHeap
@testable import UndeadHeapReport

/// What malloc could give back, compared with a model that looks at each byte.
@Suite struct MallocPagesTests {
  /// Pages of jemalloc's that no block lies near are free, and not the program's.
  @Test func whatJemallocHas() throws {
    var builder = HeapBuilder()
    builder.addMemory(HeapFile.MemoryLine.liveBlocks, "live blocks", resident: 1 << 20)
    builder.addMemory(HeapFile.MemoryLine.mallocFree, "free", resident: 2 << 20)
    builder.addMemory(HeapFile.MemoryLine.mapped, "mapped", resident: 40 << 20)
    let keys = [("Allocated", 1), ("Active", 2), ("Metadata", 1), ("Resident", 33)] as [(String, UInt64)]
    for (key, value) in keys { builder.count("allocator\(key)", value << 20) }
    let heap = try LoadedHeap(builder.file())
    #expect(heap.file.memory.map { $0.resident >> 20 } == [1, 32, 10])
    let verdict = try #require(MemoryVerdict(heap, symbols: HeapSymbols(heap, nil)))
    #expect(verdict.kind == .retained && verdict.trimmableBytes == 30 << 20, "\(verdict)")
  }

  private typealias Part = HeapFile.MallocPart
  private static let page: UInt64 = 4096
  private static let start: UInt64 = 0x7f00_0000_0000
  private static let bytes = 24 * 4096

  /// An arena with blocks and chunks that a thread keeps at random places, of which some pages are there.
  private struct Sample {
    var builder = HeapBuilder()
    var used = [Bool](repeating: false, count: bytes)
    /// Bytes of chunks of blocks, by page.
    var hasBlock = [Bool](repeating: false, count: bytes / 4096)
    var resident = [Bool](repeating: false, count: bytes / 4096)
    let isMain: Bool
    let hasTop: Bool
    var end = 0

    init(_ random: inout some RandomNumberGenerator) {
      isMain = Bool.random(using: &random)
      hasTop = Bool.random(using: &random)
      var at = 0
      while at < bytes - 8192 {
        let size = 32 + 16 * Int.random(in: 0..<(Bool.random(using: &random) ? 8 : 900), using: &random)
        guard at + size < bytes - 64 else { break }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          add(at, size, isBlock: true)
          _ = builder.object("App.Item", size: UInt64(size - 8), address: start + UInt64(at) + 16)
        case 1:
          add(at, size, isBlock: false)
          builder.malloc.append(Part(low: start + UInt64(at), high: start + UInt64(at + size), kind: Part.kept))
        default: break
        }
        at += size
      }
      let kind = isMain ? Part.main : Part.other
      builder.malloc.append(Part(low: start, high: start + UInt64(bytes), kind: kind))
      if hasTop { builder.malloc.append(Part(low: start + UInt64(end), high: start + UInt64(bytes), kind: Part.top)) }
      for number in resident.indices where Int.random(in: 0..<5, using: &random) > 0 {
        resident[number] = true
        let low = start + UInt64(number) * page
        builder.malloc.append(Part(low: low, high: low + page, kind: Part.pages))
      }
    }

    private mutating func add(_ at: Int, _ size: Int, isBlock: Bool) {
      for byte in at..<at + size { used[byte] = true }
      if isBlock { for number in at / 4096...(at + size - 1) / 4096 { hasBlock[number] = true } }
      end = at + size
    }

    /// Pages that lie inside of one free chunk, behind what malloc needs at its start.
    var trimmable: Int {
      var pages = 0
      var low = 0
      while low < bytes {
        guard !used[low] else {
          low += 1
          continue
        }
        let high = used[low...].firstIndex(of: true) ?? bytes
        let isTop = hasTop && high == bytes
        // The end of the main arena keeps what is smaller than a chunk and a byte, and gives pages from its end.
        let first = isTop ? low + 33 : low + 48
        if !isTop || isMain {
          pages += resident.indices.count { resident[$0] && $0 * 4096 >= first && ($0 + 1) * 4096 <= high }
        }
        low = high
      }
      return pages * 4096
    }

    var pinned: Int {
      resident.indices.filter { resident[$0] && hasBlock[$0] }.reduce(0) { sum, number in
        sum + used[number * 4096..<(number + 1) * 4096].count { !$0 }
      }
    }
  }

  @Test(arguments: 0..<Thorough.count(50, of: 200)) func isThatOfTheModel(_ seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let sample = Sample(&random)
    let pages = MallocPages(try LoadedHeap(sample.builder.file()))
    #expect(pages.trimmableBytes == sample.trimmable)
    #expect(pages.pinnedBytes == sample.pinned)
    #expect(pages.pins.values.reduce(0) { $0 + $1.bytes } == pages.pinnedBytes)
  }

  /// What a damaged file says twice is counted once.
  @Test func overlapsCountOnce() throws {
    var builder = HeapBuilder()
    let whole = Part(low: Self.start, high: Self.start + 8 * Self.page, kind: Part.main)
    builder.malloc = [whole, whole, Part(low: whole.low, high: whole.high, kind: Part.pages)]
    builder.malloc.append(Part(low: whole.low + Self.page, high: whole.high, kind: Part.pages))
    builder.malloc.append(Part(low: 1, high: 2, kind: 77))
    #expect(MallocPages(try LoadedHeap(builder.file())).trimmableBytes <= 8 * Self.page)
  }
}
