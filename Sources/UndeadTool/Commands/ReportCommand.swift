import ArgumentParser
import Glibc
import UndeadReport

/// `undead report`: shows a saved snapshot or JSON report again.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Show saved snapshots or JSON reports again, on this machine or another, or what leaked in a core file.",
    discussion: """
      FILE is what 'undead run --save' kept, a report of --format json, or a core file. Several snapshots are shown as \
      one report.

      Exit status: 23 if leaks or zombies are in it (see --exit-code and --fail-on), else 0. 64: the command line is \
      wrong, or a file cannot be read.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions

  @OptionGroup(title: "Core files") var core: CoreOptions

  @OptionGroup var common: CommonOptions

  @Argument(help: ArgumentHelp("Snapshots, JSON reports or core files.", valueName: "file"), completion: .file())
  var files: [String]

  func run() throws {
    let inputs = try files.map { try SavedReport(file: $0, core: core) }
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    let pipeline = try ReportPipeline(options: report, verdict: verdict)
    throw ExitCode(try pipeline.emit(inputs, to: sink, progress: Progress()))
  }
}
