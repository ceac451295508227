import UndeadHeap
import UndeadReport
import UndeadSystem

/// `undead leaks`: what leaked in a running program, in a core file, or in a file of an earlier run.
struct LeaksCommand: Command {
  static let help = CommandHelp(
    name: "leaks",
    abstract: "Show what leaked: in a running program, a core file, a snapshot or a report.",
    usage: """
      undead leaks [options] PID
      undead leaks [options] CORE | FILE...
      """,
    examples: [
      ("undead leaks 4711", "a process; it stops for some milliseconds and goes on"),
      ("undead leaks 4711 --for 10min", "what grew meanwhile; Ctrl-C ends it with the answer"),
      ("undead leaks core.4711", "what a crashed program held"),
      ("undead leaks yesterday.undead", "what --save kept, or a report in JSON"),
    ],
    common: [
      "--format", "--output", "--fail-on", "--all", "--suppressions", "--baseline", "--save", "--heap", "--for",
      "--fail-on-growth", "--sysroot",
    ],
    discussion: """
      PID is any program of this user, or any at all for root. If it was not started by 'undead run', the program stops for \
      some milliseconds while it is copied, and everything else happens in the copy. There are no backtraces then, unless \
      'undead record PID' began a recording.

      FILE is what --save kept or a report of --format json. Several are shown as one report.

      With --for the program is checked twice, so far apart; the answer is what grew between, as by 'undead diff'. Ctrl-C \
      takes the second check at once.

      Exit status: 23 if leaks or zombies were found (with --for: new or more ones; see --exit-code and --fail-on), else 0. \
      64: the command line is wrong, a file cannot be read, or the process cannot be checked. 70: the check failed.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions

  @OptionGroup var kept: KeptFiles

  @OptionGroup var growth: GrowthOptions

  @OptionGroup(title: "Core files") var core: CoreOptions

  @OptionGroup var check: CheckTime

  @Argument(
    "<pid|file> ...", help: "Process id, core file, snapshots or JSON reports.", completion: .ownProcessesAndFiles)
  var inputs: [String] = []

  func validate() throws {
    try growth.validate(with: report, kept)
    if inputs.contains(where: { $0.isEmpty }) { throw ValidationError("an empty word names no process and no file") }
  }

  func run() throws {
    let pid = HeapSource.process(inputs[0])
    if inputs.count > 1 || pid == nil {
      try checkFilesOnly()
      let saved = try inputs.map { try SavedReport(file: $0, core: core) }
      let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
      let pipeline = try ReportPipeline(options: report, verdict: verdict)
      throw ExitCode(try pipeline.emit(saved, to: sink, progress: Progress()))
    }
    guard let pid else { return }
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    var pipeline = try ReportPipeline(options: report, verdict: verdict)
    try kept.checkWritable()
    if let duration = growth.duration {
      throw ExitCode(
        try LiveGrowth(pid: pid, duration: duration, options: growth, heap: kept.heap, timeout: check.timeout).show(
          pipeline, sink))
    }
    let live = try LiveCheck(of: pid, for: kept.heap == nil ? .leaks : .heap, timeout: check.timeout)
    pipeline.symbolizer = live.symbolizer
    throw ExitCode(try live.show(pipeline, kept, sink))
  }

  private func checkFilesOnly() throws(ToolError) {
    for input in inputs where inputs.count > 1 {
      guard let pid = HeapSource.process(input) else { continue }
      throw .misuse("process \(pid): give one process alone, or files")
    }
    let options = [("--for", growth.duration != nil), ("--save", kept.save != nil), ("--heap", kept.heap != nil)]
    guard let option = options.first(where: \.1)?.0 else { return }
    if System.status(of: inputs[0]) == nil {
      throw .misuse(
        "there is no file '\(inputs[0])': \(SystemError.text()); name a file, or the id of a running process")
    }
    throw .misuse("\(option) is for a process, and '\(inputs[0])' is a file; leave it out")
  }
}
