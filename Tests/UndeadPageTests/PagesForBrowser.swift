import Foundation
import Testing
import UndeadHeapSamples
import UndeadHostileSamples

@testable import UndeadHeap
@testable import UndeadHeapReport
@testable import UndeadPage
@testable import UndeadReport

/// Where pages go; nil for nowhere.
private let pagesForBrowser = ProcessInfo.processInfo.environment["UNDEAD_PAGES"]

/// Writes pages that `scripts/check/page` looks at with a browser.
@Suite(.enabled(if: pagesForBrowser != nil)) struct PagesForBrowser {
  private func write(_ page: String, _ name: String) throws {
    try Data(page.utf8).write(to: URL(filePath: try #require(pagesForBrowser)).appending(path: name))
  }

  @Test func report() throws {
    var report = SampleReport.full
    for number in 0..<30 {
      var leak = SampleReport.pair
      leak.signature = "f\(number)"
      leak.cycle?[0] = Reference(type: "App.Node\(number)", field: "handler\(number)")
      report.leaks.append(leak)
    }
    report.leaks[0].cycle = (0..<9).map { Reference(type: "App.Step\($0)", field: "step\($0)") }
    report.updateCounts()
    try write(ReportPage.render(report), "report.html")
  }

  @Test func hostileReport() throws {
    try write(ReportPage.render(SampleReport.hostile("</script><img src=x onerror=alert(1)>")), "hostile.html")
  }

  @Test func heap() throws {
    var builder = SampleHeap.builder(sessions: 2000, jobs: 3000)
    let pool = builder.object("App.Pool", size: 4096)
    builder.global("App.pool", holds: pool)
    for number in 0..<300 {
      builder.link(
        pool, "items[\(number)]", builder.object("App.Item<App.Kind\(number)>", size: UInt64(32 + number * 16)))
    }
    let (a, b) = (builder.object("App.Left", reached: false), builder.object("App.Right", reached: false))
    builder.link(a, "right", b)
    builder.link(b, "left", a)
    try write(SampleHeap.page(builder), "heap.html")
  }

  @Test func hostileHeap() throws {
    var builder = HeapBuilder()
    let text = "</script><img src=x onerror=alert(1)>"
    let block = builder.object("App.\(text)", at: [.app(text, text, 1)])
    builder.link(block, text, builder.object(text))
    builder.global(text, holds: block)
    try write(SampleHeap.page(builder), "hostile-heap.html")
  }

  @Test func growth() throws {
    let (old, new) = (SampleHeap.builder(sessions: 40), SampleHeap.builder(sessions: 4000, jobs: 60))
    try write(
      GrowthPage.render(HeapDiff(from: SampleHeap.heap(old), to: SampleHeap.heap(new), using: nil)), "growth.html")
  }
}
