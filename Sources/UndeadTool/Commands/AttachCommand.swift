import ArgumentParser
import Glibc
import UndeadHeap
import UndeadReport

/// `undead attach`: reports on a program that knows nothing of the tool, while it goes on.
struct AttachCommand: ParsableCommand {
  static let defaultTimeout = 120.0

  static let configuration = CommandConfiguration(
    commandName: "attach",
    abstract: "Report on a running program that was not started under the tool; it goes on.",
    discussion: """
      The program stands still for some milliseconds, while the system makes a copy of its memory (pages are copied only as \
      they change); everything else happens in that copy. There are no backtraces, since nothing was recorded.

      Needs the same user or root, and ptrace: in a container the capability SYS_PTRACE.

      With --for two looks are taken so far apart, and what grew between them is told, as by 'undead diff' of heap files.

      With --record the recorder is put into the program, and what it allocates from then on has backtraces: in later looks \
      ('undead attach', 'undead heap PID'), and in the growth that --for tells. --detach takes it out of use; with --for that is \
      done at the end.

      Exit status: 23 if leaks were found (with --for: new or more ones; see --exit-code and --fail-on), else 0. 64: the \
      command line is wrong, or the process cannot be looked at. 70: the look failed.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions

  @OptionGroup var kept: KeptFiles

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Look twice, so long apart, and tell what grew: 30s, 10min or 2h.", valueName: "time"),
    transform: WatchTime.parse)
  var duration: WatchTime?

  @Option(
    help: ArgumentHelp(
      "With --for: fail if this grew: any, a type ('App.Session', 'App.*') or more than a rate ('10MB/h', "
        + "'App.Session>100/min'). Can be given several times.", valueName: "rule"),
    transform: WatchCommand.parseRule)
  var failOnGrowth: [GrowthRule] = []

  @Flag(help: "Record what the program allocates from now on, with backtraces, until --detach.")
  var record = false

  @Flag(help: "End the recording that --record began.")
  var detach = false

  @Option(
    help: ArgumentHelp(
      "With --record: keep the backtraces of a sample only, one for so many bytes on average (such as 512KiB).",
      valueName: "size"), transform: SampleSetting.parse)
  var sample: SampleSetting?

  @Option(help: ArgumentHelp("How long the copy may work on one look.", valueName: "seconds"))
  var timeout = AttachCommand.defaultTimeout

  @OptionGroup var common: CommonOptions

  @Argument(help: "Process id of the program.", completion: .ownProcesses)
  var pid: Int32

  func validate() throws {
    try AskedProgram.check(pid: pid)
    try AskedProgram.check(timeout: timeout)
    if !failOnGrowth.isEmpty, duration == nil {
      throw ValidationError("--fail-on-growth: growth is told with --for TIME only")
    }
    if detach, record || duration != nil || kept.save != nil || kept.heap != nil {
      throw ValidationError("--detach only ends a recording: give no other option with it")
    }
    if sample != nil, !record { throw ValidationError("--sample is a way to record: give --record, too") }
    if record, duration == nil, kept.save != nil || kept.heap != nil {
      throw ValidationError("--record begins to record, and takes no look: give --for TIME, or look later")
    }
    if duration != nil, kept.save != nil { throw ValidationError("--save: with --for keep the last look by --heap") }
    if duration != nil, !report.furtherReports.isEmpty {
      throw ValidationError("--report is not for growth; use --output")
    }
  }

  func run() throws {
    if detach { return try LiveRecorder(pid: pid).end() }
    if record, duration == nil { return try LiveRecorder(pid: pid, sample: sample).begin() }
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    var pipeline = try ReportPipeline(options: report, verdict: verdict)
    try kept.checkWritable()
    try checkNotUnderTool()
    let recorder = record ? LiveRecorder(pid: pid, sample: sample) : nil
    try recorder?.beginForAWhile()
    defer { recorder?.endQuietly() }
    let first = try LiveLook(at: pid, wantsHeap: kept.heap != nil || duration != nil, timeout: timeout)
    pipeline.symbolizer = first.symbolizer
    guard let duration else { throw ExitCode(try show(first, pipeline, sink)) }
    throw ExitCode(try growth(from: first, over: duration, pipeline, sink))
  }

  private func checkNotUnderTool() throws(ToolError) {
    guard ProcessFacts.isRunning(pid) else { return }
    guard try LiveLook.isNeeded(for: pid) else {
      throw .misuse(
        "process \(pid) is under 'undead run' already, which knows more of it: use 'undead snapshot \(pid)', "
          + "'undead heap \(pid)' or 'undead watch \(pid)'")
    }
  }

  private func show(_ look: LiveLook, _ pipeline: ReportPipeline, _ sink: OutputSink) throws(ToolError) -> Int32 {
    var snapshot = try SnapshotFile.load(look.path)
    if let heap = kept.heap { try SavedHeap.keep(look.path, of: snapshot, at: heap, symbolizer: look.symbolizer) }
    let notes = snapshot.hasLeaks ? confirm(&snapshot) : []
    return try pipeline.emit(
      [snapshot], notes: notes, isComplete: true, save: kept.save, to: sink, progress: Progress())
  }

  /// What has leaked is there in a second look, too.
  private func confirm(_ snapshot: inout Snapshot) -> [String] {
    do throws(ToolError) {
      let second = try LiveLook(at: pid, wantsHeap: false, timeout: timeout)
      let removed = snapshot.keepLeaks(confirmedBy: try SnapshotFile.load(second.path))
      return removed == 0 ? [] : ["left out: \(removed) objects that seemed leaked in the first of two looks only"]
    } catch {
      return ["these leaks were seen in one look only, as there was no second one: \(error.message)"]
    }
  }

  private func growth(
    from first: LiveLook, over duration: WatchTime, _ pipeline: ReportPipeline, _ sink: OutputSink
  ) throws(ToolError) -> Int32 {
    let before = try SavedState.SavedGraph(first, name: "process \(pid), first look")
    let end = System.now() + UInt64(duration.seconds * 1e9)
    while ProcessFacts.isRunning(pid) {
      let now = System.now()
      // Whoever stops a recording wants to know what it has seen.
      if now >= end || Interruptions.wait(seconds: min(0.1, Double(end - now) / 1e9)) { break }
    }
    guard ProcessFacts.isRunning(pid) else {
      throw .failure("process \(pid) ended before the second look; give a shorter --for")
    }
    let second = try LiveLook(at: pid, wantsHeap: true, timeout: timeout)
    if let heap = kept.heap {
      try SavedHeap.keep(second.path, of: try SnapshotFile.load(second.path), at: heap, symbolizer: second.symbolizer)
    }
    let after = try SavedState.SavedGraph(second, name: "process \(pid), second look")
    return try pipeline.emitGrowth(from: before, to: after, rules: failOnGrowth, sink: sink, progress: Progress())
  }
}

extension SavedState.SavedGraph {
  /// The heap of a look.
  init(_ look: LiveLook, name: String) throws(ToolError) {
    do throws(SnapshotError) {
      self.init(heap: try LoadedHeap(try HeapFile(path: look.path)), file: name)
    } catch {
      throw .failure("the heap of \(name) cannot be read: \(error)")
    }
  }
}
