import Foundation
import Testing
import UndeadReport
import UndeadTestSupport

/// What a check called a leak, and the program freed, used or stored afterwards.
@Suite struct RefutedTests {
  /// Each way in which a claim turns out to be wrong, and what a weak reference brings back, which is no defect.
  @Test(arguments: Program.selected(in: "Refuted"))
  func isFoundOut(_ program: Program) async throws {
    try await Tool.gate.pass {
      let built = try await program.build()
      let directory = try TemporaryDirectory()
      let report = directory.path("report.json")
      let outcome = try await runShell(
        """
        await() { while ! [ -e "$1" ] && kill -0 $tool; do sleep 0.01; done; }
        \(quoted(Tool.path)) run --snapshot-signal USR1 --format json --output \(quoted(report)) -- \
          \(quoted(built.executable.path)) \(quoted(directory.url.path)) &
        tool=$!
        await \(quoted(directory.path("hidden"))); kill -USR1 $tool; await \(quoted(report + ".1"))
        : > \(quoted(directory.path("use")))
        await \(quoted(directory.path("used"))); kill -USR1 $tool; await \(quoted(report + ".2"))
        : > \(quoted(directory.path("stop")))
        wait $tool
        """)
      #expect(outcome.output == "1 of 5\n")
      #expect(outcome.ending == .exit(23))
      let first = try JSONRenderer.parse(Data(directory.contents("report.json.1").utf8))
      #expect(first.refutedLeaks == [] && first.summary.leakedObjects == 8)
      let second = try JSONRenderer.parse(Data(directory.contents("report.json.2").utf8))
      #expect(second.refutedLeaks.filter { $0.kind == .freed && !$0.isRevived && $0.refutedByCheck == 2 }.count == 2)
      try Self.check(JSONRenderer.parse(Data(directory.contents("report.json").utf8)))
    }
  }

  /// A number names one of them, and a stack may name others for a while, by a stale value.
  private static func check(_ report: LeakReport) throws {
    let refuted = report.refutedLeaks.filter { !$0.isRevived && $0.kind != .named }
    let kinds = refuted.map { "\($0.kind.rawValue) \($0.type)" }.sorted()
    #expect(kinds == ["counted App.Hidden", "freed App.Hidden", "freed raw memory", "reached App.Hidden"])
    #expect(report.refutedLeaks.contains { $0.kind == .named && $0.path?.contains("number") == true })
    let revived = report.refutedLeaks.filter(\.isRevived)
    #expect(revived.map(\.type) == ["App.Mutual", "App.Mutual"])
    let earlier = try #require(report.summary.earlierChecks)
    #expect(earlier.leaks == 8 && earlier.refuted == 4 && earlier.revived == 2, "\(earlier)")
    let freed = try #require(refuted.first { $0.kind == .freed && $0.type == "App.Hidden" })
    #expect(freed.allocation.frames.contains { $0.symbol.contains("hide()") })
    #expect(freed.end?.frames.contains { $0.symbol.contains("use(") } == true)
    #expect(freed.calledByCheck == 1 && freed.refutedByCheck == 2 && freed.certainty == nil)
    #expect(refuted.first { $0.kind == .reached }?.path?.contains("stored") == true)
    #expect(report.summary.notes.contains { $0.hasPrefix("4 blocks ") && $0.contains("Please send this report") })
    #expect(report.summary.leakedObjects == 2)
  }

  /// Numbers name what leaked: the counts decided, and the report says so.
  @Test func everyLeakSaysWhyItIsCertain() async throws {
    try await Tool.gate.pass {
      let program = try #require(
        Program.all(in: "Leaks").first { $0.name == "named-by-numbers" && $0.configuration == .debug })
      let built = try await program.build()
      let outcome = try await runShell(
        "\(quoted(Tool.path)) run --explain --no-stacks --exit-code 0 -- \(quoted(built.executable.path)) 2>&1")
      #expect(outcome.output.contains("  certain    a number names it, but "), "\(outcome.output)")
      let (_, data) = try await built.runUnderTool()
      let report = try JSONRenderer.parse(try #require(data))
      #expect(report.leaks.contains { $0.certainty?.namedBy == ["number"] })
    }
  }
}
