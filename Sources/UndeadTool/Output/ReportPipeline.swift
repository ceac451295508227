import Glibc
import UndeadFormats
import UndeadReport

/// The way from snapshots to a shown report: symbolise, analyse, suppress, render, judge.
struct ReportPipeline {
  let display: DisplayOptions
  let verdict: VerdictOptions
  let options: ReportOptions
  private let further: [(format: ReportFormat, sink: OutputSink)]
  private let groupsByTest: Bool
  var symbolizer = Symbolizer(environment: { System.environment($0) })
  /// Called with a report that was shown, unless it was on request.
  var onReport: ((LeakReport) -> Void)?

  /// Reads the suppression files and opens the files of further reports.
  ///
  /// - Parameters:
  ///   - groupsByTest: true to group findings by the test that made them.
  init(
    options display: DisplayOptions, verdict: VerdictOptions, groupsByTest: Bool = false
  ) throws(ToolError) {
    self.display = display
    self.groupsByTest = groupsByTest
    self.verdict = verdict
    var options = ReportOptions(minCount: display.minCount, suppressions: try Self.suppressions(display))
    options.baseline = try Self.baseline(display)
    self.options = options
    var further: [(format: ReportFormat, sink: OutputSink)] = []
    for report in display.furtherReports {
      further.append((report.format, try OutputSink(file: report.file, option: "--report")))
    }
    self.further = further
  }

  // MARK: Snapshots

  /// Reports on the snapshots of a program and its children.
  ///
  /// - Parameters:
  ///   - process: what the report is about, if that is not the first of them.
  ///   - zombies: the uses of dead objects that were seen.
  ///   - notes: what else the reader must know.
  ///   - isComplete: false if something that should have been checked was not.
  ///   - save: where to keep the program's snapshot, with its symbols; nil for nowhere.
  func emit(
    _ snapshots: [Snapshot], of process: LeakReport.Process? = nil, zombies: ZombieLogs = ZombieLogs(),
    notes: [String], isComplete: Bool, save: String?, to sink: OutputSink, progress: Progress
  ) throws(ToolError) -> Int32 {
    // Files and lines are shown with findings only, but other formats and files keep them of known leaks, too.
    let isBrief = display.format == .text && further.isEmpty && save == nil && options.minCount == 1
    var (report, named) = analyze(
      snapshots, options, zombies: zombies.findings, isBrief: isBrief, progress: progress)
    if let process { report.process = process }
    report.summary.notes += notes
    report.summary.complete = report.summary.complete && isComplete
    report = try accepting(report)
    try show(report, to: sink)
    if let save {
      // Only after the report: nothing that goes wrong here may cost it.
      try SnapshotFile.save(named, to: save)
    }
    return status(report, isKnown: !snapshots.isEmpty && snapshots.allSatisfy(\.isComplete))
  }

  /// Analyses snapshots and names their code; gives back the first one, which is the program's, with its symbols.
  ///
  /// - Parameter isBrief: true if code matters only where something was found.
  private func analyze(
    _ snapshots: [Snapshot], _ options: ReportOptions, zombies: ZombieFindings = ZombieFindings(),
    isBrief: Bool = false, progress: Progress
  ) -> (report: LeakReport, first: Snapshot) {
    var snapshots = snapshots
    if !zombies.isEmpty {
      if snapshots.isEmpty { snapshots = [Snapshot()] }
      snapshots[0].zombies = zombies
    }
    progress.show("reading debug information")
    let needsTests = groupsByTest && snapshots.contains { $0.mayShowCode }
    if isBrief, snapshots.allSatisfy(\.isProbablyQuiet) {
      var tables = symbolizer
      tables.asksTool = false
      // Which functions are tests is in the symbols of whole programs, and said of findings only.
      let quiet = analyze(snapshots, options, needsTests ? TestCatalog() : nil, by: tables)
      if quiet.report.isQuiet {
        progress.clear()
        return quiet
      }
    }
    defer { progress.clear() }
    let tests = needsTests ? TestCatalog(snapshots) : nil
    return analyze(snapshots, options, tests, by: symbolizer)
  }

  private func analyze(
    _ snapshots: [Snapshot], _ options: ReportOptions, _ tests: TestCatalog?, by symbolizer: Symbolizer
  ) -> (report: LeakReport, first: Snapshot) {
    var notes: [String] = []
    var inputs: [ReportInput] = []
    for (snapshot, names) in zip(snapshots, symbolizer.symbolize(snapshots)) {
      for note in names.notes where !notes.contains(note) { notes.append(note) }
      var symbols = names.symbols
      symbols.tests = tests
      inputs.append(ReportInput(snapshot, symbols: symbols))
    }
    var report = LeakReport(analyzing: inputs, options: options, tool: Self.tool)
    report.summary.notes += notes
    var first = snapshots.first ?? Snapshot()
    first.symbols = inputs.first?.symbols ?? SymbolTable()
    return (report, first)
  }

  static let tool = LeakReport.Tool(version: UndeadCommand.version)

  /// The exit status that a report asks for.
  ///
  /// - Parameters:
  ///   - isKnown: false if leaks may be missing from it.
  private func status(_ report: LeakReport, isKnown: Bool) -> Int32 {
    if report.fails(on: verdict.failOn) { return verdict.exitCode }
    // Silence must not be taken for "no leaks" or "no zombies" where not everything could be seen.
    if report.summary.premises?.zombiesMayBeMissed == true, report.zombies.isEmpty { return ExitStatus.toolFailure }
    return isKnown || !report.leaks.isEmpty ? 0 : ExitStatus.toolFailure
  }

  // MARK: No snapshot

  /// Says that a program was not checked for leaks, and why, and which uses of dead objects were seen.
  ///
  /// - Parameters:
  ///   - save: where to keep the uses of dead objects, if there are any; nil for nowhere.
  func emitUnchecked(
    _ process: LeakReport.Process, reason: String, zombies: ZombieLogs = ZombieLogs(), save: String? = nil,
    to sink: OutputSink
  ) throws(ToolError) -> Int32 {
    guard !zombies.findings.zombies.isEmpty else {
      let note = (["no check was made: \(reason)"] + zombies.problems).joined(separator: "; ")
      try emitWithoutSnapshot(process, note: note, isComplete: false, to: sink)
      return ExitStatus.toolFailure
    }
    let report = try emit(process, zombies, note: "not checked for leaks: \(reason)", save: save, to: sink)
    return status(report, isKnown: false)
  }

  /// Reports on a program of which only a sample of the uses of dead objects was looked at.
  ///
  /// - Returns: the exit status that this asks for.
  func emitSampled(
    _ process: LeakReport.Process, zombies: ZombieLogs, save: String?, to sink: OutputSink
  ) throws(ToolError) -> Int32 {
    let note = LeakReport.onlySample
    if zombies.findings.zombies.isEmpty {
      let notes = [note + ", and no use was seen"] + zombies.findings.notes + zombies.problems
      try emitWithoutSnapshot(
        process, note: notes.joined(separator: "; "), isComplete: zombies.problems.isEmpty, to: sink)
      return zombies.problems.isEmpty ? 0 : ExitStatus.toolFailure
    }
    return status(try emit(process, zombies, note: note, save: save, to: sink), isKnown: zombies.problems.isEmpty)
  }

  private func emit(
    _ process: LeakReport.Process, _ zombies: ZombieLogs, note: String, save: String?, to sink: OutputSink
  ) throws(ToolError) -> LeakReport {
    var snapshot = Snapshot(unchecked: process)
    var findings = zombies.findings
    findings.notes += zombies.problems + [note]
    snapshot.zombies = findings
    let report = LeakReport(analyzing: [ReportInput(snapshot)], options: options, tool: Self.tool)
    try show(report, to: sink)
    if let save { try SnapshotFile.save(snapshot, to: save) }
    return report
  }

  func emitWithoutSwift(_ process: LeakReport.Process, to sink: OutputSink) throws(ToolError) {
    let note = "no Swift runtime was seen in '\(process.path)' or its children, so there was nothing to check"
    try emitWithoutSnapshot(process, note: note, isComplete: true, to: sink)
  }

  private func emitWithoutSnapshot(
    _ process: LeakReport.Process, note: String, isComplete: Bool, to sink: OutputSink
  ) throws(ToolError) {
    var report = LeakReport(tool: Self.tool, process: process)
    report.summary.notes = [note]
    report.summary.complete = isComplete
    if display.format == .text {
      if !display.quiet || !isComplete { try sink.write("undead: \(TextLine(note).plain)\n".utf8) }
    } else {
      try write(report, as: display.format, to: sink)
    }
    try writeFurtherReports(report)
    StepSummary.append(report, options: repositoryOptions, besides: files)
    if display.output != nil, !display.quiet || !isComplete { Message.say(TextLine(note)) }
  }

  // MARK: Saved reports

  /// Shows saved snapshots, or one JSON report, again.
  func emit(_ inputs: [SavedReport], to sink: OutputSink, progress: Progress) throws(ToolError) -> Int32 {
    let snapshots = inputs.compactMap { if case .snapshot(let snapshot, _) = $0 { snapshot } else { nil } }
    if snapshots.count == inputs.count {
      return try emit(snapshots, notes: [], isComplete: true, save: nil, to: sink, progress: progress)
    }
    guard inputs.count == 1, case .report(let report) = inputs[0] else {
      throw .misuse("JSON reports can only be shown one at a time; give one of them, or only snapshots")
    }
    let shown = try accepting(applying(report))
    try show(shown, to: sink)
    return status(shown, isKnown: shown.summary.complete)
  }

  /// Shows what changed between two saved reports.
  func emitDifference(
    from old: SavedReport, to new: SavedReport, sink: OutputSink, progress: Progress
  ) throws(ToolError) -> Int32 {
    let difference = ReportDiff(from: report(old, progress), to: report(new, progress), minCount: options.minCount)
    switch display.format {
    case .text: try sink.write(DiffRenderer.text(difference, options: textOptions(sink)).utf8)
    case .json: try sink.writeJSON { try DiffRenderer.json(difference) }
    default: throw .misuse("undead diff writes text or json; choose one of them with --format")
    }
    if difference.fails(on: verdict.failOn) { return verdict.exitCode }
    let isWorse = !difference.new.isEmpty || !difference.grown.isEmpty
    return difference.complete || isWorse ? 0 : ExitStatus.toolFailure
  }

  /// A report to be compared: a group that is too small in one of them may be the one that grew.
  func report(_ saved: SavedReport, _ progress: Progress) -> LeakReport {
    var options = options
    options.minCount = 1
    switch saved {
    case .report(var report):
      report.apply(options)
      return report
    case .snapshot(let snapshot, _): return analyze([snapshot], options, progress: progress).report
    }
  }

  /// A report without files and lines: a symboliser for them needs memory.
  func brief(_ snapshot: Snapshot) -> LeakReport {
    var tables = symbolizer
    tables.asksTool = false
    return analyze([snapshot], options, nil, by: tables).report
  }

  private func applying(_ report: LeakReport) -> LeakReport {
    var report = report
    report.apply(options)
    return report
  }

  // MARK: Rendering

  private func show(_ report: LeakReport, to sink: OutputSink) throws(ToolError) {
    let isNothing =
      report.leaks.isEmpty && report.suspects.isEmpty && report.zombies.isEmpty && report.diagnostics.isEmpty
      && report.summary.complete
    if !display.quiet || display.format != .text || !isNothing { try write(report, as: display.format, to: sink) }
    try writeFurtherReports(report, number: sink.number)
    try proposeSuppressions(for: report, to: sink)
    // What was shown on request meanwhile is not the result of the step.
    if sink.number == nil {
      StepSummary.append(report, options: repositoryOptions, besides: files)
      onReport?(report)
    }
  }

  private var files: [String] { [display.output].compactMap(\.self) + display.furtherReports.map(\.file) }

  func writeFurtherReports(_ report: LeakReport, number: Int? = nil, hosts: [String: Int] = [:]) throws(ToolError) {
    for entry in further {
      try write(report, as: entry.format, to: try number.map(entry.sink.numbered) ?? entry.sink, hosts: hosts)
    }
  }

  /// CI systems know files by their paths in the repository.
  var repositoryOptions: ReportTextOptions {
    textOptions(color: false, directory: System.environment("GITHUB_WORKSPACE") ?? System.repositoryRoot)
  }

  func textOptions(_ sink: OutputSink) -> ReportTextOptions {
    var options = textOptions(color: display.usesColor(terminal: sink.isTerminal), directory: System.currentDirectory)
    options.width = sink.width
    return options
  }

  private func textOptions(color: Bool, directory: String) -> ReportTextOptions {
    var options = ReportTextOptions(color: color, stacks: !display.noStacks)
    if let depth = display.depth { options.depth = depth }
    if let top = display.top { options.top = top }
    if display.all { (options.top, options.groupsByCulprit) = (.max, false) }
    options.command = System.environment("UNDEAD_COMMAND") ?? options.command
    options.explains = display.explain
    options.hint = ": --top N shows more culprits, --all every group, and a report in JSON has everything"
    options.directory = directory
    return options
  }
}
