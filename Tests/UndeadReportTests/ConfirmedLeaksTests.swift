import Testing

@testable import UndeadReport

/// What one of two looks at a process saw is no leak.
@Suite struct ConfirmedLeaksTests {
  /// A cycle, and what only this look saw.
  private func heap(extra: [String] = [], pause: UInt64, elsewhere: Bool = false) throws -> Snapshot {
    var heap = SyntheticHeap()
    if elsewhere { _ = heap.object("App.Phantom") }
    let (owner, child) = (heap.object("App.Owner"), heap.object("App.Child"))
    heap.link(owner, "child", child)
    heap.link(child, "owner", owner)
    for name in extra { _ = heap.object(name) }
    var snapshot = heap.built
    snapshot.counters.append(.init(key: "pauseNanoseconds", value: pause))
    return snapshot
  }

  @Test func onlyWhatBothSawIsKept() throws {
    var first = try heap(extra: ["App.Phantom", "App.Other"], pause: 5)
    let second = try heap(extra: ["App.Phantom"], pause: 7)
    #expect(first.hasLeaks)
    #expect(first.keepLeaks(confirmedBy: second) == 1)
    let report = LeakReport(analyzing: [ReportInput(first)], options: ReportOptions())
    #expect(report.summary.leakedObjects == 3)
    #expect(!report.leaks.contains { $0.objects.contains { $0.type == "App.Other" } })
    #expect(first.counter("pauseNanoseconds") == 12)
  }

  @Test func anotherTypeAtTheSamePlaceConfirmsNothing() throws {
    var first = try heap(pause: 0)
    #expect(first.keepLeaks(confirmedBy: try heap(pause: 0, elsewhere: true)) == 2)
    #expect(!first.hasLeaks)
    #expect(LeakReport(analyzing: [ReportInput(first)], options: ReportOptions()).leaks.isEmpty)
  }
}
