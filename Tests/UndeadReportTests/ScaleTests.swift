import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadReport

@Suite struct ScaleTests {
  /// A ring of `count` objects; a doubly linked one has only short cycles.
  static func ring(_ count: Int, doubly: Bool) -> Snapshot {
    var heap = SyntheticHeap()
    _ = heap.object("App.Link")
    var snapshot = heap.built
    let template = snapshot.nodes[0]
    var strings = snapshot.strings
    let next = strings.append("next")
    let previous = strings.append("previous")
    snapshot.strings = strings
    snapshot.nodes = (0..<count).map { number in
      var node = template
      node.address = 0x10000 + UInt64(number) * 64
      return node
    }
    snapshot.edges = (0..<count).flatMap { number in
      let forward = Snapshot.Edge(from: UInt32(number), to: UInt32((number + 1) % count), offset: 16, label: next)
      guard doubly else { return [forward] }
      let back = (number + count - 1) % count
      return [forward, Snapshot.Edge(from: UInt32(number), to: UInt32(back), offset: 24, label: previous)]
    }
    return snapshot
  }

  /// As many leaks as possible: each object alone.
  static func singles(_ count: Int) -> Snapshot {
    var snapshot = ring(count, doubly: false)
    snapshot.edges = []
    return snapshot
  }

  static func pairs(_ count: Int) -> Snapshot {
    var snapshot = ring(count, doubly: false)
    let label = snapshot.edges[0].label
    snapshot.edges = (0..<count).map { Snapshot.Edge(from: UInt32($0), to: UInt32($0 ^ 1), offset: 16, label: label) }
    return snapshot
  }

  /// What the search of a huge component must not do is grow faster than the component.
  @Test func hugeComponentsAndManyLeaks() {
    let count = 3000
    let list = LeakReport(analyzing: [ReportInput(Self.ring(count, doubly: true))])
    #expect(list.leaks.count == 1)
    #expect(list.leaks.first?.cycle?.count == 2)
    #expect(list.leaks.first?.objectCount == count)
    let circle = LeakReport(analyzing: [ReportInput(Self.ring(count, doubly: false))])
    #expect(circle.leaks.first?.cycle?.count == count)
    let singles = LeakReport(analyzing: [ReportInput(Self.singles(count))])
    #expect(singles.leaks.first?.count == count)
    let pairs = LeakReport(analyzing: [ReportInput(Self.pairs(count))])
    #expect(pairs.leaks.first?.count == count / 2)
  }

  @Test func aLongChainNeedsNoStack() {
    var snapshot = Self.ring(200_000, doubly: false)
    snapshot.edges.removeLast()
    let report = LeakReport(analyzing: [ReportInput(snapshot)])
    #expect(report.leaks.map(\.kind) == [.unreferenced])
    #expect(report.leaks.first?.objectCount == 200_000)
  }

  /// Three references from each object to others, as of things that know each other; only two know each other directly.
  @Test func theShortCycleOfALargeGraph() {
    let count = 8000
    var snapshot = Self.ring(count, doubly: false)
    var random = SeededGenerator(seed: 7)
    let label = snapshot.edges[0].label
    snapshot.edges = (0..<count).flatMap { number in
      (0..<3).map { field in
        // Such steps need four at least to come back.
        var end = (number + (field == 1 ? 1 : Int.random(in: 1..<2600, using: &random))) % count
        if field == 0, number == 4000 || number == 5000 { end = 9000 - number }
        return Snapshot.Edge(from: UInt32(number), to: UInt32(end), offset: UInt32(16 + 8 * field), label: label)
      }
    }
    let report = LeakReport(analyzing: [ReportInput(snapshot)])
    #expect(report.leaks.map(\.objectCount) == [count])
    #expect(report.leaks.first?.cycle?.count == 2)
  }

  /// A long way round, and one that is shorter: distances far beyond what the search's queue has places for.
  @Test(arguments: [(200, 150), (5000, 4000)])
  func theShortestWayOfALongRing(count: Int, skipped: Int) {
    var snapshot = Self.ring(count, doubly: false)
    var edge = snapshot.edges[0]
    (edge.to, edge.offset) = (UInt32(skipped), 24)
    snapshot.edges.insert(edge, at: 1)
    let report = LeakReport(analyzing: [ReportInput(snapshot)])
    #expect(report.leaks.first?.cycle?.count == count - skipped + 1)
    #expect(report.leaks.first?.objectCount == count)
  }

  /// Classes are small first, then by what they look like; their members keep their order.
  @Test func classesOfLooks() {
    var random = SeededGenerator(seed: 11)
    let snapshot = PermutationTests.heap(&random, nodes: 400, edges: 500).built
    let names = NodeNames(snapshot)
    let frames = FrameNames(snapshot, symbols: snapshot.symbols)
    let graph = LeakGraph(snapshot)
    let looks = NodeLooks(graph, CanonicalKeys(snapshot, graph, names, frames))
    let nodes = snapshot.nodes.indices.filter { $0 % 3 != 0 }
    let expected = Dictionary(grouping: nodes) { looks[$0] }
      .sorted { ($0.value.count, $0.key) < ($1.value.count, $1.key) }.map(\.value)
    let classes = looks.classes(of: nodes)
    let found = classes.ranges.map { range in range.map { Int(classes.nodes[Int($0)]) } }
    #expect(found == expected)
    #expect(looks.classes(of: []).ranges.isEmpty)
  }

  /// More functions than are kept at hand: each object was made by another one.
  @Test func manyFunctionsThatAllocate() {
    var heap = SyntheticHeap()
    let main = SyntheticHeap.Function.app("App.main()")
    let initializer = SyntheticHeap.Function.app("App.Item.__allocating_init()")
    for round in 0..<2 {
      for number in 0..<1500 {
        _ = heap.object("App.Item", size: UInt64(32 + round), at: [initializer, .app("App.make\(number)()"), main])
      }
    }
    let snapshot = heap.built
    #expect(LeakReport(analyzing: [ReportInput(snapshot)]).leaks.map(\.count) == Array(repeating: 2, count: 1500))
    #expect(snapshot.lookupAddresses == Set(snapshot.frames.map { $0 - 1 }).sorted())
    #expect(snapshot.lookupAddresses.count == 1502)
  }

  /// What was read is given back behind the reader, who must not need it again.
  @Test func aBigFileIsReadAsItsBytes() throws {
    let snapshot = Self.ring(70_000, doubly: true)
    let data = snapshot.encoded()
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).undead").path
    try data.write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let read = try Snapshot(contentsOfFile: path)
    #expect(read.nodes == snapshot.nodes && read.edges == snapshot.edges)
    #expect(read.encoded() == data)
  }
}
