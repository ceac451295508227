import ArgumentParser
import Glibc
import UndeadReport

/// `undead diff`: what is new between two checks.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show which findings are new, gone or grown between two snapshots or JSON reports.",
    discussion: """
      Exit status: 23 if leaks or zombies are new or more than before (see --exit-code, and --fail-on for other \
      findings), else 0. 64: the command line is wrong, or a file cannot be read. 70: one of the checks was \
      incomplete, and nothing that is worse was found.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions

  @Argument(help: "Snapshot or JSON report of before.")
  var old: String

  @Argument(help: "Snapshot or JSON report of now.")
  var new: String

  func validate() throws {
    if !report.furtherReports.isEmpty { throw ValidationError("--report is not for 'undead diff'; use --output") }
  }

  func run() throws {
    let before = try SavedReport(file: old)
    let after = try SavedReport(file: new)
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    let pipeline = try ReportPipeline(options: report, verdict: verdict)
    throw ExitCode(try pipeline.emitDifference(from: before, to: after, sink: sink, progress: Progress()))
  }
}
