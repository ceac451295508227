import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadSystem

/// `undead watch`: takes censuses, asks for one heap at the end, and reports.
struct WatchRun {
  private let options: WatchCommand
  private let sink: OutputSink
  private let loop: WatchLoop

  init(options: WatchCommand) throws(ToolError) {
    self.options = options
    // A program that is started here may write to standard output.
    sink = try options.answer.sink(else: options.pid == nil ? .standardError : .standardOutput)
    loop = WatchLoop(every: options.every.seconds, duration: options.duration?.seconds)
  }

  /// Watches a process; returns the exit status of the tool.
  func watch(_ pid: pid_t) throws(ToolError) -> Int32 {
    let program = try RunningProgram(pid)
    let live = LiveFindings(
      options.findings, saysLines: false,
      process: LeakReport.Process(path: program.executable, pid: Int(pid)), logs: program.logs)
    program.findings = live
    defer { live?.finish() }
    let (series, end) = try loop.run(program)
    program.clear()
    let findings = judge(series)
    var notes: [String] = []
    var heap: Heap?
    if end == .programEnded {
      notes.append(
        "process \(pid) ended after \(Quantity.duration(findings.watched)), before a look at what holds what grew")
    } else if wantsHeap(findings) {
      heap = Heap { () throws(ToolError) in try program.heap() }
    }
    live?.programEnded()
    return try report(findings, heap, notes: notes, live)
  }

  /// Starts a program and watches it; returns the exit status of the tool.
  func watchProgram() throws(ToolError) -> Int32 {
    let path = try ProgramLookup.find(options.command[0], path: System.environment("PATH"))
    let preflight = try Preflight(program: path, preloaded: System.environment("LD_PRELOAD") ?? "")
    if let obstacle = preflight.obstacle { throw .failure("the program cannot be watched: \(obstacle)") }
    if System.environment("UNDEAD") == "0" {
      throw .failure("the program cannot be watched: UNDEAD=0 in the environment turns the instrument off")
    }
    let instrument = SupervisedRun.Instrument(
      library: try .ofThisTool(), settings: ["UNDEAD_HEAP": "1", "UNDEAD_SUSPECTS": "0"]
    ) { _, _ in }
    let run = try SupervisedRun(
      executable: path, arguments: System.lastArguments(options.command.count), instrument: instrument,
      showsChecks: false)
    let program = try StartedProgram(run)
    program.findings = LiveFindings(
      options.findings, saysLines: false, process: run.process(nil), logs: .session(run.session.folder))
    defer { program.findings?.finish() }
    return try watch(program)
  }

  private func watch(_ program: StartedProgram) throws(ToolError) -> Int32 {
    let seen: (series: CountSeries, end: WatchEnd)
    do throws(ToolError) {
      seen = try loop.run(program)
    } catch {
      // Without a watch the program has no purpose any more.
      try program.end()
      return try program.run.finish(wasEnded: true) { _ throws(ToolError) in throw error }
    }
    program.run.progress.clear()
    let findings = judge(seen.series)
    var heap: Heap?
    if seen.end == .programEnded {
      if wantsHeap(findings) { heap = try program.lastHeap.map { .success($0) } }
    } else {
      if wantsHeap(findings) { heap = Heap { () throws(ToolError) in try program.heap() } }
      try program.end()
    }
    return try program.run.finish(wasEnded: seen.end != .programEnded) { _ throws(ToolError) in
      program.findings?.programEnded()
      let notes =
        seen.end == .programEnded && options.duration != nil
        ? ["the program ended after \(Quantity.duration(findings.watched)), before its time"] : []
      return try report(findings, heap, notes: notes, program.findings)
    }
  }

  private func judge(_ series: CountSeries) -> GrowthFindings {
    GrowthFindings(series, warmUp: options.warmUp?.seconds, rules: options.failOnGrowth)
  }

  // MARK: The heap at the end

  /// The heap, or why there is none.
  private typealias Heap = Result<HeapSource, ToolError>

  /// A graph costs more than a census: it is taken to explain something.
  private func wantsHeap(_ findings: GrowthFindings) -> Bool { options.heap != nil || !findings.types.isEmpty }

  /// Names what holds the types that grow.
  private func origins(_ findings: GrowthFindings, _ heap: Heap?, notes: inout [String]) -> GrowthOrigins {
    guard let heap else { return GrowthOrigins() }
    do throws(ToolError) {
      let source = try heap.get()
      var text = ReportTextOptions()
      text.directory = System.repositoryRoot
      return GrowthOrigins(
        of: findings.types.map(\.name), in: try source.heap(), symbolizer: source.symbolizer, options: text)
    } catch {
      notes.append("no look at what holds what grew: \(error.message)")
      return GrowthOrigins()
    }
  }

  private func keep(_ heap: Heap?) throws(ToolError) {
    guard let path = options.heap else { return }
    switch heap {
    case nil: throw .failure("no heap was kept in '\(path)': the program ended before")
    case .failure(let error): throw .failure("no heap was kept in '\(path)': \(error.message)")
    case .success(let source): try source.save(to: path)
    }
  }

  // MARK: The report

  private func render(
    _ findings: GrowthFindings, _ origins: GrowthOrigins, _ notes: [String], as format: AnswerFormat
  ) throws(ToolError) -> [UInt8] {
    if format == .text { return Array(GrowthText.render(findings, origins, notes: notes).utf8) }
    do {
      return Array(try GrowthJSON.render(findings, origins, notes: notes))
    } catch {
      throw .failure("the report cannot be written as JSON: \(error)")
    }
  }

  private func report(
    _ findings: GrowthFindings, _ heap: Heap?, notes: [String], _ live: LiveFindings?
  ) throws(ToolError) -> Int32 {
    var notes = notes
    let origins = origins(findings, heap, notes: &notes)
    try sink.write(try render(findings, origins, notes, as: options.format))
    try keep(heap)
    if !findings.broken.isEmpty {
      live?.add(growth: try render(findings, origins, notes, as: .json), rules: findings.broken.map(\.text))
      return ExitStatus.findings
    }
    return findings.isJudged || options.failOnGrowth.isEmpty ? 0 : ExitStatus.toolFailure
  }
}
