import Glibc
import UndeadReport

/// `undead test`: `swift test` under the tool, and the report on it.
final class TestRun {
  private let options: TestCommand
  private var pipeline: ReportPipeline
  private let sink: OutputSink
  private let swift: String
  private let isTurnedOff = System.environment("UNDEAD") == "0"
  private let run: SupervisedRun
  private let findings: LiveFindings?

  /// Starts `swift test`.
  ///
  /// - Parameters:
  ///   - arguments: what comes after `swift test`, byte for byte.
  /// - Throws: `ToolError`; then nothing was started.
  init(
    swift: String, arguments: [[UInt8]], options: TestCommand, pipeline: ReportPipeline, sink: OutputSink
  ) throws(ToolError) {
    self.swift = swift
    self.options = options
    self.pipeline = pipeline
    self.sink = sink
    var instrument: SupervisedRun.Instrument?
    if !isTurnedOff {
      instrument = SupervisedRun.Instrument(
        library: try .ofThisTool(),
        settings: options.report.settings.merging(options.zombies.settings) { $1 }
          .merging(options.stacks.settings) { $1 }.merging(["UNDEAD_ONLY": "tests"]) { $1 }
      ) { options.report.note("loading \($0) into the test programs of \(swift), session \($1)") }
    }
    run = try SupervisedRun(
      executable: swift, arguments: [Array("swift".utf8), Array("test".utf8)] + arguments, instrument: instrument)
    findings = LiveFindings(
      options.findings, saysLines: options.zombies.goesOn && options.report.leavesStandardErrorToMessages,
      options: pipeline.options, process: run.process(nil), logs: .session(run.session.folder))
    self.pipeline.onReport = { [findings] in findings?.end(with: $0, failOn: options.verdict.failOn) }
  }

  /// Waits for the end of the tests and reports.
  func finish() throws(ToolError) -> Int32 {
    defer { findings?.finish() }
    return try run.finish(onLook: findings.map { findings in { findings.look() } }, report: report)
  }

  private func report(_ ending: Ending) throws(ToolError) -> Int32 {
    findings?.programEnded()
    if isTurnedOff {
      let reason = "UNDEAD=0 in the environment turns the instrument off"
      _ = try pipeline.emitUnchecked(run.process(ending), reason: reason, to: sink)
      return 0
    }
    let found = SessionSnapshots(session: run.session.folder)
    let outcome = TestOutcome(
      states: run.session.states(), isFinal: found.isFinal, isRunning: ProcessFacts.isRunning)
    let snapshots = try found.snapshots(outcome.snapshots)
    let zombies = options.zombies.isOn ? ZombieLogs(.session(run.session.folder), program: run.pid) : ZombieLogs()
    guard !snapshots.isEmpty else {
      let reasons = NoteFolding.folded(outcome.unchecked + outcome.notes)
      return try pipeline.emitUnchecked(
        run.process(ending), reason: reasons.isEmpty ? reasonForNothing(ending) : reasons.joined(separator: "; "),
        zombies: zombies, to: sink)
    }
    let gaps = outcome.unchecked + zombies.problems
    let verdict = try pipeline.emit(
      snapshots, of: run.process(ending), zombies: zombies, notes: gaps + outcome.notes, isComplete: gaps.isEmpty,
      save: nil, to: sink, progress: run.progress)
    // Without findings, a test process that was not looked at is not known to be clean.
    return verdict == 0 && !gaps.isEmpty ? ExitStatus.toolFailure : verdict
  }

  private func reasonForNothing(_ ending: Ending) -> String {
    guard run.session.folder.has("relay") else {
      return "the instrument was not loaded into 'swift test' ('\(swift)'): the dynamic loader refused it "
        + "(it says so above), or that is not the 'swift' of a toolchain"
    }
    return ending.status == 0
      ? "'swift test' started no test program"
      : "'swift test' ended with \(ending.status) before it started a test program (it says why above)"
  }
}
