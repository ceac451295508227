import Foundation
import Testing

@testable import UndeadReport
@testable import UndeadTool

/// Leaks that are accepted: suppressions of the package, proposals for them, and the baseline.
@Suite(.timeLimit(.minutes(20))) struct AcceptedTests {
  private let sandbox: Sandbox
  private let leaking: [String: String]
  private let report: LeakReport

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    let snapshot = SampleSnapshot.leaking()
    leaking = ["FAKE_SNAPSHOT": try sandbox.write(snapshot, to: "leaking.undead")]
    report = LeakReport(analyzing: [ReportInput(snapshot)])
  }

  private func run(_ options: String...) throws -> Sandbox.Output {
    try sandbox.undead(list: ["run"] + options + ["--", "true"], environment: leaking)
  }

  // MARK: Suppressions

  @Test func thoseOfThePackageAreReadByThemselves() throws {
    try sandbox.write("type:App.Owner # legacy\ntype:App.Unknown\n", to: ".undead.supp")
    let output = try run()
    #expect(output.status == 0, "\(output.error)")
    #expect(output.error.contains("suppressed 1 group by type:App.Owner"))
    // One file is for all programs of the package.
    #expect(!output.error.contains("unused suppression"))
    #expect(try run("--no-suppressions").status == 23)
    let shown = try sandbox.undead("leaks", "leaking.undead")
    #expect(shown.status == 0, "\(shown.out)")
    try sandbox.write("typo:App.Owner\n", to: ".undead.supp")
    let wrong = try run()
    #expect(wrong.status == 64 && wrong.error.contains(".undead.supp:1: "), "\(wrong.error)")
    // Those that were named tell which rules do nothing.
    try sandbox.write("type:App.Unknown\n", to: "named.supp")
    #expect(try run("--no-suppressions", "--suppressions", "named.supp").error.contains("unused suppression"))
  }

  @Test func proposedLinesTakeOutWhatWasFound() throws {
    let output = try run("--generate-suppressions")
    #expect(output.status == 23)
    let lines = output.error.split(separator: "\n").filter { $0.hasPrefix("type:") || $0.hasPrefix("field:") }
    #expect(!lines.isEmpty, "\(output.error)")
    try sandbox.write(lines.joined(separator: "\n"), to: ".undead.supp")
    #expect(try run().status == 0)
    // Beside another form they do not stand in it.
    let json = try sandbox.undead(
      "leaks", "leaking.undead", "--no-suppressions", "-f", "json", "--generate-suppressions")
    #expect(json.error.contains(lines[0]) && !json.out.contains("# For .undead.supp"))
    #expect(try !sandbox.undead("leaks", "leaking.undead", "--generate-suppressions").out.contains("# For"))
  }

  @Test func ofACycleTheFieldIsProposed() throws {
    var leak = try #require(report.leaks.first)
    leak.cycle = [
      Reference(type: "Swift.Array<App.A>", field: "[value]"), Reference(type: "App.B", field: "a"),
    ]
    var other = report
    other.leaks = [leak, leak]
    let lines = SuppressionProposal.lines(for: other)
    #expect(lines.count == 1)
    #expect(lines[0].hasPrefix("field:^App.B.a$  # "), "\(lines)")
    var suppressions = Suppressions()
    try suppressions.add(lines[0], file: "proposed")
    other.apply(ReportOptions(suppressions: suppressions))
    #expect(other.leaks.isEmpty)
  }

  // MARK: Baseline

  @Test func onlyNewLeaksFail() throws {
    let none = try run("--baseline", "known.baseline")
    #expect(none.status == 64 && none.error.contains("--update-baseline"), "\(none.error)")
    let written = try run("--baseline", "known.baseline", "--update-baseline")
    #expect(written.status == 0, "\(written.error)")
    let text = try String(contentsOfFile: sandbox.path("known.baseline"), encoding: .utf8)
    #expect(text.contains("leak: App.Owner"))
    let known = try run("--baseline", "known.baseline")
    #expect(known.status == 0 && known.error.contains("left out: 1 group of the baseline known.baseline"))
    // Another leak than those.
    try sandbox.write("0123456789abcdef  leak: App.Other\n", to: "other.baseline")
    let new = try run("--baseline", "other.baseline")
    #expect(new.status == 23)
    #expect(new.error.contains("not found any more: 1 group of the baseline"), "\(new.error)")
  }

  @Test func nothingIsAcceptedOfAnIncompleteCheck() throws {
    let output = try sandbox.undead(
      "run", "--baseline", "known.baseline", "--update-baseline", "--", "true",
      environment: ["FAKE_FAILURE": "no threads"])
    #expect(output.status == 70)
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("known.baseline")))
  }

  @Test func aBaselineIsReadAsItWasWritten() throws {
    let baseline = Baseline(of: report, file: "b")
    #expect(baseline.count == 1)
    #expect(try Baseline(parsing: baseline.text, file: "b") == baseline)
    let error = #expect(throws: SuppressionError.self) { try Baseline(parsing: "# x\n\nleak App.Owner\n", file: "b") }
    #expect(error?.line == 3)
  }

  @Test func mistakesOfTheCommandLine() throws {
    #expect(try run("--update-baseline").status == 64)
    #expect(
      try sandbox.undead("diff", "--baseline", "b", "--update-baseline", "leaking.undead", "leaking.undead").status
        == 64)
    #expect(try run("--baseline", "/no/such/directory/b", "--update-baseline").status == 64)
  }
}
