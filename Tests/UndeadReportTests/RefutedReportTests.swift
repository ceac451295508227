import Testing

@testable import UndeadReport

/// What is said of leaks of earlier checks that turned out to be none.
@Suite struct RefutedReportTests {
  private static func snapshot(how: UInt32, flags: UInt32 = 0, why: UInt32 = 0) throws -> Snapshot {
    var heap = SyntheticHeap()
    _ = heap.object("App.Owner", at: Scenario.site("App.make()", 12))
    var snapshot = heap.built
    snapshot.refuted = [
      .init(
        address: 0x1000, size: 48, how: how, type: snapshot.types[0].name, allocation: 0,
        end: how == 1 ? 0 : Snapshot.none,
        calledBy: 3, refutedBy: 5, why: why, flags: flags, strong: 2, counted: 2)
    ]
    let counters: [(String, UInt64)] = [
      ("earlierChecks", 4), ("earlierLeaks", 9),
      (flags == 1 ? "revivedLeaks" : how == 4 ? "namedLeaks" : "refutedLeaks", 1),
    ]
    snapshot.counters += counters.map { .init(key: $0.0, value: $0.1) }
    let decoded = try Snapshot(decoding: snapshot.encoded())
    #expect(decoded.refuted == snapshot.refuted)
    return decoded
  }

  private static func report(how: UInt32, flags: UInt32 = 0, why: UInt32 = 0) throws -> LeakReport {
    LeakReport(analyzing: [ReportInput(try snapshot(how: how, flags: flags, why: why))])
  }

  @Test func textAsksForTheReport() throws {
    let text = TextRenderer.render(try Self.report(how: 1, why: 48), options: ReportTextOptions(stacks: false))
    #expect(text.contains("REFUTED LEAK  App.Owner  (48 bytes)\n"))
    #expect(
      text.contains("  check 3 called it a leak: a number names it, but 2 of its 2 references are of the leak itself\n")
    )
    #expect(text.contains("  the program freed it before check 5\n"))
    #expect(text.contains("  freed  in App.make()"))
    #expect(text.contains("note: 1 block that an earlier check of the process called a leak turned out to be none"))
    #expect(text.contains("Please send this report in JSON to its developers"))
  }

  /// A stack may hold a stale value, and a weak reference may bring back what it leads to.
  @Test func whatIsNoDefectIsOnlyCounted() throws {
    let named = TextRenderer.render(try Self.report(how: 4))
    let revived = TextRenderer.render(try Self.report(how: 1, flags: 1))
    for text in [named, revived] { #expect(!text.contains("REFUTED") && !text.contains("defect")) }
    #expect(
      named.contains("note: 1 leak of earlier checks is named by a stack, a register or a number now, perhaps"))
    #expect(revived.contains("note: 1 leak of earlier checks was brought back through a weak or unowned reference"))
  }

  @Test func jsonKeepsAllOfIt() throws {
    for how in UInt32(1)...6 {
      let report = try Self.report(how: how, why: 112)
      #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
      #expect(report.refutedLeaks[0].certainty == Certainty(namedBy: ["number", "place"], strong: 2, counted: 2))
    }
    let report = try Self.report(how: 3)
    #expect(report.refutedLeaks[0].kind == .reached && report.refutedLeaks[0].end == nil)
    #expect(report.summary.earlierChecks?.checks == 4 && report.summary.earlierChecks?.leaks == 9)
  }

  @Test func leaksSayWhyTheyAreCertain() throws {
    var heap = SyntheticHeap()
    _ = heap.object("App.Owner", at: Scenario.site("App.make()", 12))
    var snapshot = heap.built
    var options = ReportTextOptions()
    func certain() -> String? {
      let report = LeakReport(analyzing: [ReportInput(snapshot)])
      let lines = TextRenderer.render(report, options: options).split(separator: "\n")
      return lines.first { $0.hasPrefix("  certain") }.map(String.init)
    }
    #expect(certain() == nil)
    options.explains = true
    #expect(certain() == "  certain    no word that was looked at names any object of it")
    snapshot.nodes[0].flags = 16
    #expect(
      certain()
        == "  certain    a word that may be stale leads to it, but all counted references to it are of the leak itself")
    (snapshot.nodes[0].flags, snapshot.nodes[0].strong, snapshot.nodes[0].counted) = (16 | 64, 1, 1)
    #expect(
      certain() == "  certain    a place that may be out of use names it, but its only reference is of the leak itself")
  }
}
