import Foundation
import Testing
import UndeadFormats
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap
@testable import UndeadHeapReport

/// Heaps of many hosts as one.
@Suite struct MergedHeapTests {
  private func heap(_ sessions: Int, extra: Bool = false) throws -> HeapReport {
    var heap = HeapBuilder()
    let cache = heap.object("App.Cache", size: 48)
    heap.global("App.cache", holds: cache)
    for _ in 0..<sessions { heap.link(cache, "sessions", heap.object("App.Session", size: 64)) }
    if extra { heap.link(cache, "c", heap.foreign(size: 128), strength: HeapFile.Strength.raw) }
    return try HeapReport(LoadedHeap(heap.file()), symbolizer: nil)
  }

  private func inputs() throws -> [HostInput<HeapReport>] {
    [
      .init(host: "web-1", file: "1", value: try heap(10)),
      .init(host: "web-2", file: "2", value: try heap(300, extra: true)),
      .init(host: "web-3", file: "3", value: try heap(20)),
    ]
  }

  @Test func typesAreSummed() throws {
    let merged = MergedHeap(try inputs())
    let sessions = try #require(merged.types.first { $0.type == "App.Session" })
    #expect(sessions.hosts == 3)
    #expect(sessions.count == HostValues([10, 20, 300], hosts: 3))
    #expect(sessions.count.median == 20 && sessions.bytes.total == 330 * 64)
    let foreign = try #require(merged.types.first { $0.type == "C memory" })
    #expect(foreign.hosts == 1 && foreign.count.min == 0 && foreign.count.max == 1)
    #expect(merged.types.first?.type == "App.Cache")
    #expect(merged.summary.objects.total == 333 && merged.summary.complete)
  }

  @Test func anyOrderGivesTheSame() throws {
    let inputs = try inputs()
    let expected = try MergedHeap(inputs).json()
    #expect(try MergedHeap(inputs.reversed()).json() == expected)
    let merged = MergedHeap(inputs + [.init(host: "z", file: "copy", value: inputs[0].value)])
    #expect(merged.summary.notes == ["'copy' is the same as '1', and counts once"])
    #expect(merged.types == MergedHeap(inputs).types)
  }

  @Test func absurdNumbersDoNotOverflow() throws {
    var inputs = try inputs()
    for number in inputs.indices {
      inputs[number].value.types[0].count = .max
      inputs[number].value.types[0].retainedBytes = -7
      inputs[number].value.summary.objects = .max
    }
    let merged = MergedHeap(inputs)
    #expect(merged.summary.objects.total == .max)
  }

  @Test func residentMemoryIsThatOfTheHostsThatTellIt() throws {
    var inputs = try inputs()
    #expect(!MergedHeapText.render(MergedHeap(inputs)).contains("resident"))
    for (number, bytes) in [3 << 20, 9 << 20].enumerated() { inputs[number].value.summary.residentBytes = bytes }
    let merged = MergedHeap(inputs)
    #expect(
      merged.summary.residentHosts == 2 && merged.summary.residentBytes == HostValues([3 << 20, 9 << 20], hosts: 2))
    let text = MergedHeapText.render(merged)
    #expect(text.contains(" resident on 2 hosts where that is known ("), "\(text)")
    // One process of the host does not show.
    inputs[2].host = "web-1"
    #expect(MergedHeap(inputs).summary.residentBytes.total == 9 << 20)
    inputs[2].value.summary.residentBytes = 1 << 20
    #expect(MergedHeap(inputs).summary.residentBytes == HostValues([4 << 20, 9 << 20], hosts: 2))
    let all = MergedHeapText.render(MergedHeap(inputs))
    #expect(all.contains(" resident (") && !all.contains("where that is known"), "\(all)")
  }

  @Test func text() throws {
    let text = MergedHeapText.render(MergedHeap(try inputs()), rows: 1)
    #expect(text.hasPrefix("3 hosts: 333 objects\n"), "\(text)")
    #expect(text.contains("3/3          1          1          1  App.Cache\n  ... 2 more (--top)\n"), "\(text)")
  }
}
