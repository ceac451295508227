import Testing

@testable import UndeadReport

/// What `print` and failed expectations say of a report.
@Suite struct DescriptionTests {
  private static func leak(_ type: String) -> LeakReport.Leak {
    LeakReport.Leak(
      signature: "00000000000000a1", kind: .retainCycle, count: 1, objectCount: 2, totalBytes: 96,
      objects: [LeakReport.LeakedObject(type: type, address: "0x1000", size: 48)],
      cycle: [
        LeakReport.Reference(type: type, field: "child", fieldType: "App.Child"),
        LeakReport.Reference(type: "App.Child", field: "owner", fieldType: type),
      ], alsoLeaked: [],
      allocation: LeakReport.Backtrace(frames: [
        LeakReport.Frame(symbol: "App.run()", file: "/app/main.swift", line: 7, module: "App")
      ]))
  }

  @Test func aReportOfNothing() {
    #expect("\(LeakReport())" == "undead: no leaks")
  }

  @Test func aLineForEachFinding() {
    var report = LeakReport(leaks: [Self.leak("App.Owner")])
    report.updateCounts()
    #expect(
      "\(report)" == """
        undead: 1 leak (2 objects, 96 bytes)
          retain cycle of App.Owner and App.Child (2 objects, 96 bytes), allocated in App.run() at /app/main.swift:7
        """)
  }

  @Test func ofManyTheWorst() {
    let report = LeakReport(leaks: (0..<12).map { Self.leak("App.Type\($0)") })
    let lines = "\(report)".split(separator: "\n")
    #expect(lines.count == 12)
    #expect(lines.last == "  ... and 2 more")
  }
}
