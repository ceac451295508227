import Foundation
import Testing

@testable import UndeadReport

/// Backtraces of which only the innermost calls were recorded.
@Suite struct PartialBacktraceTests {
  private static func site(_ callers: String...) -> [SyntheticHeap.Function] {
    [.system("swift_allocObject"), .app("App.make()", "/app/main.swift", 12)]
      + callers.enumerated().map { .app($1, "/app/main.swift", 90 + $0) }
  }

  /// Objects that were made in one function; of all but the last only the innermost calls are known.
  private func heap(wholeToo: Bool) -> SyntheticHeap {
    var heap = SyntheticHeap()
    for _ in 0..<3 { heap.markPartial(heap.object("App.Node", at: Self.site("App.grow()"))) }
    if wholeToo { _ = heap.object("App.Node", at: Self.site("App.grow()", "App.load()", "main")) }
    return heap
  }

  @Test func aWholeOneIsShownBeforePartialOnes() throws {
    let leak = try #require(try heap(wholeToo: true).report().leaks.first)
    #expect(leak.count == 4)
    #expect(!leak.allocation.isPartial && leak.allocation.frames.last?.symbol == "main")
    #expect(leak.otherAllocations?.isEmpty != false)
  }

  @Test func aPartialOneSaysThatItIs() throws {
    let report = try heap(wholeToo: false).report()
    let leak = try #require(report.leaks.first)
    #expect(leak.count == 3 && leak.allocation.isPartial)
    #expect(leak.signature == (try heap(wholeToo: true).report().leaks.first?.signature))
    #expect(report.summary.notes.contains { $0.contains("--stacks full") })
    let text = try heap(wholeToo: false).text()
    let end = "#1  App.grow() at /app/main.swift:90\n    ... its callers were not recorded (--stacks full)\n"
    #expect(text.contains(end))
  }

  @Test func jsonHasItOnlyWhereItIsSo() throws {
    for wholeToo in [true, false] {
      let report = try heap(wholeToo: wholeToo).report()
      let data = try JSONEncoder().encode(try #require(report.leaks.first).allocation)
      #expect(String(decoding: data, as: UTF8.self).contains("\"partial\":true") == !wholeToo)
      #expect(try JSONDecoder().decode(Backtrace.self, from: data) == report.leaks.first?.allocation)
    }
  }
}
