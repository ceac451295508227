import Testing
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap
@testable import UndeadHeapReport

/// Memory that nothing uses, or that only waits.
extension FindingTests {
  /// Recorded programs know the type of what was deallocated; of others the field says what it was.
  @Test(arguments: [true, false]) func memoryThatUnownedReferencesKeep(_ isRecorded: Bool) throws {
    var heap = HeapBuilder()
    let history = heap.object("App.History", size: 48)
    let storage = heap.object("Swift._ContiguousArrayStorage<App.Unowned>", size: 4096)
    heap.link(history, "visited", storage)
    for _ in 0..<100 {
      let page =
        isRecorded
        ? heap.object(
          "App.Page", size: 64, reached: false, flags: HeapFile.Shape.isDead | HeapFile.Shape.countUnknown)
        : heap.foreign(size: 512, reached: false)
      heap.link(storage, "[].page", page, strength: HeapFile.Strength.none, type: "App.Page", flags: 8)
    }
    heap.global("App.history", holds: history)
    let found = try #require(try findings(heap).first)
    #expect(found.kind == .deallocatedMemory && found.objects == 100 && found.type == "deallocated App.Page")
    #expect(found.container == .init(type: "App.History", field: "visited"))
    let loaded = try LoadedHeap(heap.file())
    #expect(loaded.dominators.retained[loaded.dominators.nodes.unreachable] == 0)
  }

  @Test func memoryThatIsLost() throws {
    var heap = HeapBuilder()
    heap.global("App.cache", holds: heap.object("App.Cache", size: 1 << 20))
    for _ in 0..<100 { _ = heap.foreign(size: 1 << 12, reached: false, at: [.system("swift_reportError")]) }
    #expect(try texts(heap) == ["lostMemory 100 409600 C memory"])
    let messages = "messages about dropped continuations"
    for _ in 0..<100 {
      _ = heap.object(messages, size: 1 << 13, kind: .other, isOfProgram: false, reached: false)
    }
    #expect(try texts(heap) == ["lostMemory 100 819200 \(messages)", "lostMemory 100 409600 C memory"])
    let told = try findings(heap).map(\.advice)
    #expect(told[0].contains("resume each continuation") && !told[1].contains("continuation"))
  }

  /// A queue refers to the first and the last block that wait, and each to the next.
  @Test(arguments: [99, 300]) func blocksThatWaitInAQueue(_ count: Int) throws {
    var heap = HeapBuilder()
    let queue = heap.object("dispatch queue serial", size: 120, kind: .other, isOfProgram: false)
    var before = queue
    for number in 0..<count {
      let item = heap.foreign(size: 56)
      heap.link(before, before == queue ? "waiting block" : "", item, strength: HeapFile.Strength.raw)
      heap.link(
        item, "", heap.object("C block", size: 40, kind: .other, isOfProgram: false), strength: HeapFile.Strength.raw)
      if number == count - 1 { heap.link(queue, "waiting block", item, strength: HeapFile.Strength.raw) }
      before = item
    }
    heap.global("App.queue", holds: queue)
    let waiting = try texts(heap).filter { $0.hasPrefix("waitingBlocks") }
    #expect(waiting == (count < 100 ? [] : ["waitingBlocks 300 28800 C block"]))
    heap.queueLabels = [(queue, "com.app.sync")]
    let titles = try findings(heap).filter { $0.kind == .waitingBlocks }.map(\.title)
    #expect(titles == (count < 100 ? [] : ["many blocks wait in the queue 'com.app.sync'"]))
  }

  @Test func memoryOfWhatLeaksIsNoLossOfItsOwn() throws {
    var heap = HeapBuilder()
    heap.global("App.cache", holds: heap.object("App.Cache", size: 1 << 20))
    for _ in 0..<100 {
      let session = heap.object("App.Session", size: 64, reached: false)
      heap.link(session, "buffer", heap.foreign(size: 1 << 12, reached: false))
    }
    #expect(try texts(heap) == [])
  }
}
