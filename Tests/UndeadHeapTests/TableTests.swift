import Testing
import UndeadHeapSamples
import UndeadReport

@testable import UndeadHeap
@testable import UndeadHeapReport

@Suite struct TableTests {
  private static func texts(_ rows: [HeapRow]) -> [String] {
    rows.map { "\($0.name)\($0.module.map { " (\($0))" } ?? "") \($0.count) \($0.bytes) \($0.retained)" }
  }

  @Test func typesWithTheirStorage() throws {
    let heap = try LoadedHeap(HeapFileTests.sample().file())
    var tables = HeapTables(heap)
    #expect(
      Self.texts(tables.types(foldingStorage: true)) == [
        "raw memory 1 256 4352", "C memory (App) 1 4096 4096", "App.Cache 1 1072 1504", "App.Session 3 432 432",
      ])
    #expect(
      Self.texts(tables.types(foldingStorage: false)) == [
        "raw memory 1 256 4352", "C memory (App) 1 4096 4096", "App.Cache 1 48 1504",
        "Swift._DictionaryStorage<Swift.String, App.Session> 1 1024 1456", "App.Session 3 192 432",
        "Swift.__StringStorage 3 240 240",
      ])
  }

  @Test func otherTables() throws {
    let heap = try LoadedHeap(HeapFileTests.sample().file())
    var tables = HeapTables(heap)
    #expect(
      Self.texts(tables.modulesTable()) == [
        "App 5 4336 5600", "unknown code 1 256 4352", "Swift 4 1264 1456",
      ])
    #expect(
      Self.texts(tables.generations()) == [
        "before the first mark (0) 2 1072 1504", "warm (1) 8 4784 4784",
      ])
    #expect(
      tables.roots().map { "\($0.kind) \($0.name) \($0.count) \($0.retained)" } == [
        "stack thread 1 2 4352", "global App.cache 8 1504",
      ])
    #expect(
      tables.sites().map { "\($0.type) \($0.count) \($0.bytes) \($0.stack)" } == [
        "raw memory 1 256 4294967295", "C memory 1 4096 1", "App.Cache 1 48 0",
        "Swift._DictionaryStorage<Swift.String, App.Session> 1 1024 0", "App.Session 3 192 0",
        "Swift.__StringStorage 3 240 4294967295",
      ])
  }

  @Test func containers() throws {
    let heap = try LoadedHeap(HeapFileTests.sample().file())
    let string = heap.containers.container(of: 3)
    #expect(string == HeapContainer(collection: 1, owner: 0, type: "App.Cache", field: "sessions"))
    #expect(string?.description == "`.sessions` of `App.Cache`")
    #expect(heap.containers.container(of: 1) == HeapContainer(owner: 0, type: "App.Cache", field: "sessions"))
    #expect(heap.containers.container(of: 0)?.type == "global App.cache")
  }

  /// A tree has as many ways as leaves; they are alike.
  @Test func pathsThroughATreeAreOfFewShapes() throws {
    var builder = HeapBuilder()
    func tree(_ depth: Int) -> Int {
      let node = builder.object("App.Node", size: 48)
      guard depth > 0 else { return node }
      builder.link(node, "left", tree(depth - 1))
      builder.link(node, "right", tree(depth - 1))
      return node
    }
    builder.global("App.tree", holds: tree(6))
    let heap = try LoadedHeap(builder.file())
    #expect(Set(heap.pathShapes.shapeOfBlock).count == 3)
    let report = try HeapReport(
      heap,
      options: {
        var o = HeapReportOptions()
        o.subject = .type("Node")
        return o
      }())
    #expect(report.detail?.paths.map(\.count) == [63, 63, 1])
  }

  /// Instances inside of instances count once.
  @Test func retainedBytesOfATypeAreAUnion() throws {
    var builder = HeapBuilder()
    var last: Int?
    for _ in 0..<10 {
      let node = builder.object("App.Node", size: 48)
      let payload = builder.object("App.Payload", size: 16)
      builder.link(node, "payload", payload)
      if let last { builder.link(last, "next", node) } else { builder.global("App.list", holds: node) }
      last = node
    }
    let heap = try LoadedHeap(builder.file())
    var tables = HeapTables(heap)
    #expect(Self.texts(tables.types(foldingStorage: true)) == ["App.Node 10 480 640", "App.Payload 10 160 160"])
    #expect(heap.dominators.retained[0] == 640)
    let shapes = HeapPathShapes(heap)
    #expect(Set((1..<20).map { shapes.shapeOfBlock[$0] }).count == 2)
    #expect(heap.paths.path(to: 18).edges.count == 9)
  }

  @Test func longPathsLoseTheirMiddleWhereverTheyAreTold() throws {
    var builder = HeapBuilder()
    var last: Int?
    for _ in 0..<2000 {
      let node = builder.object("App.Node", size: 48)
      if let last { builder.link(last, "next", node) } else { builder.global("App.list", holds: node) }
      last = node
    }
    let heap = try LoadedHeap(builder.file())
    let frames = FrameNames(heap.file.snapshot, symbols: heap.file.snapshot.symbols)
    #expect(heap.paths.path(to: 1999).edges.count == 1999)
    #expect(heap.retainPath(to: 1999, frames).count == 401)
  }
}
