import Foundation
import Testing
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap

@Suite struct HeapFileTests {
  static func sample() -> HeapBuilder {
    var heap = HeapBuilder()
    let site: [HeapBuilder.Function] = [.system("swift_allocObject"), .app("App.make()", "/app/main.swift", 12)]
    let cache = heap.object("App.Cache", size: 48, at: site)
    let storage = heap.object(
      "Swift._DictionaryStorage<Swift.String, App.Session>", size: 1024, use: (3, 24), at: site)
    heap.link(cache, "sessions", storage, type: "[Swift.String : App.Session]")
    heap.mark("warm")
    for number in 0..<3 {
      let session = heap.object("App.Session", size: 64, at: site)
      heap.link(storage, "[value]", session)
      heap.link(session, "cache", cache, strength: HeapFile.Strength.none)
      let text = heap.object("Swift.__StringStorage", size: 80, use: (60, 64), hash: 7)
      heap.link(session, "name", text, neighbours: [0, 0, UInt64(number), 1, 2, 3, 4])
    }
    let buffer = heap.foreign(size: 4096, at: [.app("App.parse()")])
    let raw = heap.raw(size: 256)
    heap.link(raw, "+0", buffer, strength: HeapFile.Strength.raw)
    heap.global("App.cache", holds: cache)
    _ = heap.root(HeapFile.Root.stack, "", thread: 1, holds: [raw, cache])
    heap.addMemory(HeapFile.MemoryLine.liveBlocks, "live blocks", resident: 8192)
    return heap
  }

  @Test func whatIsWrittenIsRead() throws {
    let file = try Self.sample().file()
    let graph = try file.graph()
    #expect(graph.count == 10)
    #expect((0..<10).map { graph.size($0) } == [48, 1024, 64, 80, 64, 80, 64, 80, 4096, 256])
    #expect(graph.addresses[0] == 0x5500_4000_0000 && graph.addresses[1] == 0x5500_4000_0040)
    #expect(graph.edges(of: 0).map { graph.targets[$0] } == [1])
    #expect(graph.edges(of: 1).map { graph.targets[$0] } == [2, 4, 6])
    #expect(file.snapshot.strings[graph.place(graph.edges(of: 0).lowerBound).label] == "sessions")
    #expect(graph.strongCounts[1] == 1 && graph.strongCounts[8] == HeapGraph.unknownCount)
    #expect(
      graph.uses.map { [UInt64($0.rank), $0.used, $0.capacity] } == [
        [1, 3, 24], [3, 60, 64], [5, 60, 64], [7, 60, 64],
      ])
    #expect(graph.hashes.map(\.hash) == [7, 7, 7])
    #expect(graph.neighbours.map { graph.words(around: $0)[2] } == [0, 1, 2])
    #expect(graph.rootEdges.map { [$0.root, $0.target] } == [[0, 0], [1, 0], [1, 9]])
    #expect(graph.site(0)?.generation == 0 && graph.site(2)?.generation == 1 && graph.site(9)?.stack == Snapshot.none)
    #expect(graph.source(of: graph.edges(of: 9).lowerBound) == 9)
    #expect(graph.block(containing: graph.addresses[1] + 1023) == 1)
    #expect(graph.block(containing: graph.addresses[1] + 1024) == nil)
    #expect(file.generations.map { file.snapshot.strings[$0.name] } == ["warm"])
    #expect(file.memory.map(\.resident) == [8192])
  }

  @Test func aSnapshotReaderReadsItToo() throws {
    let snapshot = try Snapshot(decoding: Self.sample().encoded())
    #expect(snapshot.metadata("heap") == "1" && snapshot.counter("heapBlocks") == 10)
  }
}
