import Testing
import UndeadHeapSamples
import UndeadHostileSamples

@testable import UndeadHeap
@testable import UndeadPage
@testable import UndeadReport

/// Graphs for Graphviz, whole texts.
@Suite struct DotTests {
  @Test func cyclesAndPaths() throws {
    try Golden.expect(ReportDot.render(SampleReport.full), "report.dot")
  }

  @Test func longCyclesAreCut() throws {
    var report = SampleReport.full
    report.leaks[0].cycle = (0..<30).map { Reference(type: "App.Step\($0)", field: "next") }
    let text = ReportDot.render(report)
    #expect(text.contains("18 more references"))
    #expect(!text.contains("App.Step9") && text.contains("App.Step5") && text.contains("App.Step24"))
  }

  @Test func whoKeepsTheMemory() throws {
    try Golden.expect(HeapDot.render(SampleHeap.heap()), "retained.dot")
  }

  @Test func aroundAType() throws {
    try Golden.expect(HeapDot.render(SampleHeap.heap(), .type("Session")), "type.dot")
  }

  @Test func aroundAnObject() throws {
    let builder = SampleHeap.builder()
    try Golden.expect(HeapDot.render(SampleHeap.heap(), .address(builder.address(2))), "object.dot")
  }

  @Test func whatIsNotThere() throws {
    let heap = try SampleHeap.heap()
    #expect(throws: HeapQuestionError.self) { try HeapDot.render(heap, .type("App.Nothing")) }
    #expect(throws: HeapQuestionError.self) { try HeapDot.render(heap, .address(1)) }
  }

  @Test(arguments: ["\"", "\\", "\\\"];x[", "a\nb", "\u{202E}x", "//", "*/"])
  func namesAreOnlyNames(_ text: String) {
    var dot = Dot(text)
    dot.node(text, [text], [("color", text)])
    dot.edge(text, text, text)
    dot.comment(text + "\n}")
    for line in dot.text.split(separator: "\n") where !line.contains("//") {
      // Quotes are closed, and what stands outside of them is ours.
      let outside = line.replacing(#/"(\\.|[^"\\])*"/#, with: "Q")
      #expect(!outside.contains("\""), "\(line)")
      #expect(!outside.contains("x["), "\(line)")
    }
    #expect(dot.text.hasSuffix("}\n"))
  }
}
