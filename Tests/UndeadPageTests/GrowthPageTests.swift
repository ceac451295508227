import Testing
import UndeadHeapSamples
import UndeadHostileSamples

@testable import UndeadFormats
@testable import UndeadHeap
@testable import UndeadHeapReport
@testable import UndeadPage
@testable import UndeadReport

/// The page of what grew.
@Suite struct GrowthPageTests {
  private func difference(_ old: HeapBuilder, _ new: HeapBuilder) throws -> HeapDiff {
    try HeapDiff(from: SampleHeap.heap(old), to: SampleHeap.heap(new), using: nil)
  }

  @Test func sessionsGrew() throws {
    var diff = try difference(SampleHeap.builder(sessions: 4), SampleHeap.builder(sessions: 40, jobs: 6))
    diff.leaks = ReportDiff(from: LeakReport(), to: LeakReport(leaks: [SampleReport.pair]))
    let page = GrowthPage.render(diff)
    _ = try StrictHTML(page)
    try Golden.expect(Golden.content(page), "growth.html")
  }

  @Test func nothingGrew() throws {
    let page = try GrowthPage.render(difference(SampleHeap.builder(), SampleHeap.builder()))
    _ = try StrictHTML(page)
    #expect(page.contains("Nothing grew."))
    #expect(page.contains("as large as before"))
  }

  @Test func namesAreNoMarkup() throws {
    let text = "</script><b>\"'&"
    func heap(_ count: Int) -> HeapBuilder {
      var heap = HeapBuilder()
      let owner = heap.object("App.\(text)")
      heap.global(text, holds: owner)
      for _ in 0..<count { heap.link(owner, text, heap.object("App.X\(text)", at: [.app(text, text, 1)])) }
      return heap
    }
    let page = try GrowthPage.render(difference(heap(1), heap(50)))
    let markup = try StrictHTML(page)
    #expect(!markup.elements.contains { $0.name == "b" && $0.attributes.isEmpty == false })
    #expect(markup.elements.count { $0.name == "script" } == 1)
  }

  /// An array of closures is not a closure.
  @Test func pathsLeadThroughClosuresOnlyWhereThereIsOne() {
    let step = PathStep(type: "App.Worker", field: "queue", fieldType: "Swift.Array<() -> ()>")
    let chain = Chain(retainPath: [step, PathStep(type: "Swift._ContiguousArrayStorage<() -> ()>", field: "")])
    #expect(chain?.links.map(\.holdsClosure) == [false])
    #expect(Chain(retainPath: []) == nil)
  }
}
