import UndeadReport
import UndeadSystem

/// `undead run`: a program under the tool, and the report on it.
final class ProgramRun {
  private let options: RunCommand
  private var pipeline: ReportPipeline
  private let sink: OutputSink
  private let obstacle: String?
  private let run: SupervisedRun
  private var requestedSnapshots = 0
  private var memory: MemoryWatch?
  private let findings: LiveFindings?
  /// Heaps that were kept because of the mark, the oldest first.
  private var marked: [String] = []

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - arguments: of the program, its own name first, byte for byte.
  ///   - obstacle: why the instrument is not loaded into it; nil to load it.
  /// - Throws: `ToolError`; then the program was not started.
  init(
    program: String, arguments: [[UInt8]], obstacle: String?, options: RunCommand, pipeline: ReportPipeline,
    sink: OutputSink
  ) throws(ToolError) {
    self.obstacle = obstacle
    self.options = options
    self.pipeline = pipeline
    self.sink = sink
    var instrument: SupervisedRun.Instrument?
    if obstacle == nil {
      instrument = SupervisedRun.Instrument(
        library: try .ofThisTool(), settings: Self.settings(options)
      ) { options.report.note("loading \($0) into \(program), session \($1)") }
    }
    run = try SupervisedRun(
      executable: program, arguments: arguments, instrument: instrument, snapshotSignal: options.snapshotSignal)
    memory = obstacle == nil ? options.memory.watch(over: run.pid) : nil
    findings = LiveFindings(
      options.findings, saysLines: options.zombies.goesOn && options.report.leavesStandardErrorToMessages,
      options: pipeline.options, process: run.process(nil), logs: .session(run.session.folder))
    self.pipeline.onReport = { [findings] in findings?.end(with: $0, failOn: options.verdict.failOn) }
  }

  private static func settings(_ options: RunCommand) -> [String: String] {
    let settings = options.report.settings.merging(options.zombies.settings) { $1 }
      .merging(options.stacks.settings) { $1 }
      .merging(options.sample?.settings ?? [:]) { $1 }
    return options.kept.heap == nil ? settings : settings.merging(["UNDEAD_HEAP": "1"]) { $1 }
  }

  /// Waits for the end of the program and reports.
  func finish() throws(ToolError) -> Int32 {
    defer { findings?.finish() }
    return try run.finish(
      onSnapshot: reportOnRequest, onLook: memory == nil && findings == nil ? nil : look, report: report)
  }

  // MARK: At the end

  /// Reports on the whole run and returns the exit status that its findings ask for.
  private func report(_ ending: Ending) throws(ToolError) -> Int32 {
    findings?.programEnded()
    if let obstacle {
      let verdict = try pipeline.emitUnchecked(run.process(ending), reason: obstacle, to: sink)
      return System.environment("UNDEAD") == "0" ? 0 : verdict
    }
    let found = SessionSnapshots(session: run.session.folder)
    let outcome = SessionOutcome(
      states: run.session.states(), program: run.pid, ending: ending, isFinal: found.isFinal,
      isRunning: ProcessFacts.isRunning)
    var snapshots = try found.snapshots(outcome.snapshots)
    if outcome.isWithoutSwift {
      try pipeline.emitWithoutSwift(run.process(ending), to: sink)
      return 0
    }
    let zombies = zombieLogs()
    if options.isUnrecorded, zombies.areSampled {
      return try pipeline.emitSampled(run.process(ending), zombies: zombies, save: options.kept.save, to: sink)
    }
    if let reason = outcome.reason, snapshots.isEmpty {
      return try pipeline.emitUnchecked(
        run.process(ending), reason: reason, zombies: zombies, save: options.kept.save, to: sink)
    }
    if outcome.failure == nil, !snapshots.isEmpty { Self.record(ending, in: &snapshots[0]) }
    let gaps =
      (outcome.failure.map { ["the program itself was not checked: \($0)"] } ?? []) + outcome.notes + zombies.problems
    let omission = ToolchainProcesses.leaveOut(of: &snapshots)
    let verdict = try pipeline.emit(
      snapshots, zombies: zombies, notes: gaps + [outcome.deaths, omission].compactMap(\.self),
      isComplete: gaps.isEmpty,
      save: options.kept.save, to: sink, progress: run.progress)
    if let heap = options.kept.heap { try keepHeap(outcome, found, ending, at: heap) }
    // Without findings, a program that was not looked at itself is not known to be clean.
    let isUnknown = outcome.failure != nil || !zombies.problems.isEmpty
    return verdict == 0 && isUnknown ? ExitStatus.toolFailure : verdict
  }

  /// Only after the report: nothing that goes wrong here may cost it.
  private func keepHeap(
    _ outcome: SessionOutcome, _ found: SessionSnapshots, _ ending: Ending, at path: String
  ) throws(ToolError) {
    guard outcome.failure == nil, let file = outcome.snapshots.first, let snapshot = try found.snapshots([file]).first
    else {
      throw .failure("no heap was written to '\(path)': \(outcome.failure ?? "the program was not looked at")")
    }
    let heap = try run.session.folder.snapshot(named: file)
    try SavedHeap.keep(heap, of: snapshot, ending: ending, at: path)
  }

  private func zombieLogs() -> ZombieLogs {
    options.zombies.isOn ? ZombieLogs(.session(run.session.folder), program: run.pid) : ZombieLogs()
  }

  private static func record(_ ending: Ending, in snapshot: inout Snapshot) {
    switch ending {
    case .exited(let status): snapshot.setMetadata("exitStatus", "\(status)")
    case .signalled(let signal): snapshot.setMetadata("signal", "\(signal)")
    }
  }

  // MARK: On request

  private func ask(_ kind: SnapshotRequest.Kind) throws(ToolError) -> SessionFile {
    let signal = try SnapshotRequest.signal(setting: System.environment("UNDEAD_REQUEST_SIGNAL"))
    return try SnapshotRequest(process: run.process, session: run.session.folder, signal: signal, kind: kind)
      .wait(timeout: AskedProgram.defaultTimeout, progress: run.progress)
  }

  private func reportOnRequest() {
    requestedSnapshots += 1
    do throws(ToolError) {
      if let obstacle { throw .failure("no snapshot can be taken: \(obstacle)") }
      let file = try ask(options.kept.heap == nil ? .snapshot : .heap)
      defer { file.remove() }
      let snapshot = try SnapshotFile.load(file)
      _ = try pipeline.emit(
        [snapshot], zombies: zombieLogs(), notes: [], isComplete: true,
        save: options.kept.save.map { "\($0).\(requestedSnapshots)" },
        to: try sink.numbered(requestedSnapshots), progress: run.progress)
      if let heap = options.kept.heap {
        try SavedHeap.keep(file, of: snapshot, at: "\(heap).\(requestedSnapshots)")
      }
    } catch {
      Message.say(TextLine(error.message))
    }
  }

  /// Looks at memory and for findings; returns when to look again.
  private func look() -> UInt64 {
    min(memory == nil ? .max : lookAtMemory(), findings?.look() ?? .max)
  }

  // MARK: Short memory

  /// Keeps the heap if memory has passed its mark; returns when to look again.
  private func lookAtMemory() -> UInt64 {
    if let next = memory?.nextLook, SystemClock.now() < next { return next }
    let state = run.session.folder.state(of: run.pid)
    // Nobody is there yet to be asked.
    if state == nil || state?.stage == .loaded { return SystemClock.now() + MemoryWatch.hurry }
    switch memory?.look(now: SystemClock.now()) {
    case .take(let reason): keepMarkedHeap(reason)
    case .refuse(let reason): Message.say(TextLine(reason))
    case .nothing, nil: break
    }
    return memory?.nextLook ?? .max
  }

  private func keepMarkedHeap(_ reason: String) {
    let began = SystemClock.now()
    do throws(ToolError) {
      let file = try ask(.heap)
      defer { file.remove() }
      requestedSnapshots += 1
      let kept = "\(options.kept.heap ?? "undead-\(run.pid).undead").\(requestedSnapshots)"
      let snapshot = try SnapshotFile.load(file)
      try SavedHeap.keep(file, of: snapshot, at: kept)
      marked.append(kept)
      if marked.count > options.memory.snapshotKeep { unlink(marked.removeFirst()) }
      let took = Double((SystemClock.now() - began) / 10_000_000) / 100
      Message.say("\(reason): the heap is in '\(kept)' (\(took) s); look at it with 'undead heap'")
      if let findings, findings.wantsHeaps {
        findings.add(heap: kept, pipeline.brief(snapshot), reason: reason)
      }
    } catch {
      Message.say("\(reason), but \(error.message)")
      memory?.retry(now: SystemClock.now())
    }
  }
}
