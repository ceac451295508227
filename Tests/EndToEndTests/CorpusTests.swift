import Foundation
import Testing

/// Every program of the corpus under the tool, compiled without and with optimisation.
@Suite struct CorpusTests {
  @Test(arguments: Program.selected(in: "Leaks"))
  func leaks(_ program: Program) async throws { try await check(program) }

  /// Under the sniffer of zombies, too.
  @Test(arguments: Program.selected(in: "Controls"))
  func controls(_ program: Program) async throws {
    let (built, alone) = try await check(program)
    try await Tool.gate.pass { try await ZombieTests.checkControl(program, built, alone) }
  }

  @Test(arguments: Program.selected(in: "Hostile"))
  func hostile(_ program: Program) async throws { try await check(program) }

  @discardableResult
  private func check(_ program: Program) async throws -> (BuiltProgram, Outcome) {
    try await Tool.gate.pass {
      let built = try await program.build()
      let alone = try await built.runAlone()
      var first: [String]?
      for run in 1...Tool.repetitions {
        let (outcome, data) = try await built.runUnderTool()
        expectSameBehaviour(built, alone, outcome)
        guard built.expectation.check != .programOnly else { continue }
        let report = try #require(data.flatMap(decode), "no report that follows the contract: \(outcome.errors)")
        if built.expectation.check == .unchecked {
          #expect(!report.summary.complete, "no check was made, but the report claims that it was")
          continue
        }
        let complaints = built.judge.complaints(about: report)
        #expect(complaints.isEmpty, "run \(run): \(complaints.joined(separator: "\n"))")
        expectStatus(built, outcome, report)
        if let first { #expect(first == report.fingerprint, "run \(run) differs from the first") }
        first = first ?? report.fingerprint
      }
      return (built, alone)
    }
  }

  private func expectSameBehaviour(_ built: BuiltProgram, _ alone: Outcome, _ outcome: Outcome) {
    #expect(alone.output == outcome.output)
    // A crash report has addresses in it, and for want of a report the tool says why.
    if built.expectation.check == .report { #expect(alone.errors == outcome.errors) }
    guard built.showsStatus else { return }
    switch built.expectation.ending {
    case .exit(let status):
      #expect(alone.ending == .exit(status))
      if status != 0 { #expect(outcome.ending == .exit(status)) }
    case .signal(let signal): #expect(alone.ending == .signal(signal))
    }
  }

  private func expectStatus(_ built: BuiltProgram, _ outcome: Outcome, _ report: ReportFile) {
    let leaked = !report.leaks.isEmpty
    switch built.expectation.ending {
    case .exit(let status):
      #expect(report.process.exitStatus == Int(status))
      if built.showsStatus { #expect(outcome.ending == .exit(status == 0 && leaked ? 23 : status)) }
    case .signal(let signal):
      #expect(report.process.signal == Int(signal))
      if built.showsStatus { #expect(outcome.ending == .exit(128 + signal)) }
    }
  }

  private func decode(_ data: Data) -> ReportFile? {
    do {
      return try JSONDecoder().decode(ReportFile.self, from: data)
    } catch {
      Issue.record("the report does not follow the contract: \(error)")
      return nil
    }
  }
}
