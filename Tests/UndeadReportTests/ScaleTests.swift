import Foundation
import Testing

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
}
