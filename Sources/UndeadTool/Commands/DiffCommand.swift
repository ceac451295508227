import Glibc
import UndeadHeap
import UndeadHeapReport
import UndeadReport

/// `undead diff`: what is new between two checks.
struct DiffCommand: Command {
  static let help = CommandHelp(
    name: "diff",
    abstract: "Show what grew between two heap files, or which findings are new between two snapshots or JSON reports.",
    examples: [
      ("undead diff before.heap after.heap", "the fields that hold more than before"),
      ("undead diff old.json new.json", "leaks that are new"),
    ],
    common: ["--format", "--output", "--fail-on", "--fail-on-growth"],
    discussion: """
      Heap files (undead run --heap, undead heap PID --save): which containers grew, by how many objects and bytes, who \
      keeps them and where they were allocated, and what changed in the leaks. Best are two of one process, some time apart.

      Exit status: 23 if leaks or zombies are new or more than before (see --exit-code, --fail-on for other findings, and \
      --fail-on-growth for growth, which fails nothing by itself), else 0. 64: the command line is wrong, or a file cannot be read. 70: one of the checks was \
      incomplete, and nothing that is worse was found.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions

  @Option(
    "--fail-on-growth <rule>",
    help:
      "Of heap files: fail if this grew: any (a container, by 4 KB or more), a type ('App.Session', 'App.*'), or, for files "
      + "of one process, more than a rate ('10MB/h', 'App.Session>100/min'). Can be given several times.",
    brief: "fail if this grew: any, 'App.*', '10MB/h', 'App.Session>100/min'")
  var failOnGrowth: [GrowthRule] = []

  @OptionGroup(title: "Core files") var core: CoreOptions

  @Argument("<old>", help: "Heap file, snapshot, JSON report or core file of before.", completion: .file)
  var old = ""

  @Argument("<new>", help: "Heap file, snapshot, JSON report or core file of now.", completion: .file)
  var new = ""

  func validate() throws {
    if report.updateBaseline {
      throw ValidationError("--update-baseline is not for 'undead diff'; use 'undead leaks'")
    }
    if !report.furtherReports.isEmpty { throw ValidationError("--report is not for 'undead diff'; use --output") }
  }

  func run() throws {
    let before = try SavedState(file: old, core: core)
    let after = try SavedState(file: new, core: core)
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    let pipeline = try ReportPipeline(options: report, verdict: verdict)
    if case .heap(let first) = before, case .heap(let second) = after {
      throw ExitCode(
        try pipeline.emitGrowth(from: first, to: second, rules: failOnGrowth, sink: sink, progress: Progress()))
    }
    if !failOnGrowth.isEmpty {
      throw ToolError.misuse("--fail-on-growth needs two heap files; '\(before.isHeap ? new : old)' holds no heap")
    }
    if let note = SavedState.note(old, before, new, after) { Message.say(TextLine(note)) }
    throw ExitCode(
      try pipeline.emitDifference(from: before.report, to: after.report, sink: sink, progress: Progress()))
  }
}
