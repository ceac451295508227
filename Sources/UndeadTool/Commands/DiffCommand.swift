import ArgumentParser
import Glibc
import UndeadReport

/// `undead diff`: what is new between two checks.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Show which leaks are new, gone or grown between two snapshots or JSON reports.",
    discussion: """
      Exit status: 23 if there are new leaks (see --exit-code), else 0. 64: the command line is wrong, or a file \
      cannot be read.
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
