import Foundation
import Testing

/// Programs that use dead objects, and clean ones, under `--zombies` (debug) and `--zombie-mode guard` (optimised).
@Suite struct ZombieTests {
  @Test(arguments: Program.selected(in: "Zombies"))
  func zombies(_ program: Program) async throws {
    try await Tool.gate.pass {
      let built = try await program.build()
      for run in 1...Tool.repetitions {
        let (outcome, data) = try await built.runUnderTool([Self.option(program)])
        let report = try Self.decode(data, outcome)
        expectEnding(built, outcome, report)
        guard built.expectation.check != .programOnly else { continue }
        let complaints = ZombieJudge(expected: built.expectation.zombies).complaints(about: report.zombies)
        #expect(complaints.isEmpty, "run \(run): \(complaints.joined(separator: "\n"))")
        #expect(report.leaks.isEmpty, "run \(run): \(report.leaks.map(\.line))")
      }
    }
  }

  /// A program without zombies prints, ends and leaks under the sniffer as without it.
  static func checkControl(_ program: Program, _ built: BuiltProgram, _ alone: Outcome) async throws {
    let (outcome, data) = try await built.runUnderTool([option(program)])
    #expect(alone.output == outcome.output)
    #expect(alone.errors == outcome.errors)
    #expect(alone.ending == outcome.ending)
    let report = try decode(data, outcome)
    #expect(report.zombies.isEmpty, "\(report.zombies.map(\.message))")
    #expect(built.judge.complaints(about: report) == [])
  }

  private static func option(_ program: Program) -> String {
    program.configuration == .debug ? "--zombies" : "--zombie-mode=guard"
  }

  private static func decode(_ data: Data?, _ outcome: Outcome) throws -> ReportFile {
    try JSONDecoder().decode(ReportFile.self, from: try #require(data, "no report: \(outcome.errors)"))
  }

  private func expectEnding(_ built: BuiltProgram, _ outcome: Outcome, _ report: ReportFile) {
    if let crash = built.expectation.crash {
      let signals = [SIGILL, SIGTRAP, SIGABRT, SIGSEGV]
      let status = report.process.signal.map { 128 + Int32($0) }
      let isCrash = signals.map { 128 + $0 }.contains { $0 == status } && outcome.ending == .exit(status ?? 0)
      let isExit = crash.orExit.map { outcome.ending == .exit($0) } ?? false
      #expect(isCrash || isExit, "ended with \(outcome.ending), the report says signal \(report.process.signal ?? 0)")
    } else if case .exit(let status) = built.expectation.ending, built.expectation.check != .programOnly {
      #expect(report.process.exitStatus == Int(status))
      #expect(outcome.ending == .exit(status == 0 && !report.zombies.isEmpty ? 23 : status))
    }
  }
}
