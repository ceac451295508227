import Foundation
import Testing

/// What leaked is told as ever where only the innermost calls of its allocations were recorded.
@Suite struct PartialStackTests {
  private static let names = ["closure-stored-in-self", "copy-on-write-storage", "dictionary-values", "many-cycles"]

  @Test(arguments: Program.selected(in: "Leaks").filter { names.contains($0.name) })
  func leaksAreToldApart(_ program: Program) async throws {
    try await Tool.gate.pass {
      let built = try await program.build()
      let (outcome, data) = try await built.runUnderTool(
        ["--stacks", "hybrid"], environment: ["UNDEAD_TEST_ALL_PARTIAL": "1"])
      let report = try JSONDecoder().decode(ReportFile.self, from: try #require(data, "\(outcome.errors)"))
      #expect(built.judge.complaints(about: report).isEmpty)
      // Short stacks are whole all the same, and inlined functions make them short.
      let tells = String(decoding: data ?? Data(), as: UTF8.self).contains("not all backtraces are whole")
      #expect(tells || program.configuration == .release)
      let (_, whole) = try await built.runUnderTool(["--stacks", "full"])
      let other = try JSONDecoder().decode(ReportFile.self, from: try #require(whole))
      #expect(report.leaks.map(\.signature).sorted() == other.leaks.map(\.signature).sorted())
    }
  }
}
