import Glibc
import UndeadReport

/// One run of a program under the tool, from its start to the exit status of the tool.
final class ProgramRun {
  private let options: RunCommand
  private let pipeline: ReportPipeline
  private let sink: OutputSink
  private let program: String
  /// As text, for the report.
  private let arguments: [String]
  private let obstacle: String?
  private let progress = Progress()
  private let session: SessionDirectory
  private let supervisor: Supervisor
  private let pid: pid_t
  private var requestedSnapshots = 0

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
    self.program = program
    self.arguments = arguments.map { String(decoding: $0, as: UTF8.self) }
    self.obstacle = obstacle
    self.options = options
    self.pipeline = pipeline
    self.sink = sink
    let library = obstacle == nil ? try PreloadLibrary.find(tool: System.linkTarget("/proc/self/exe") ?? "") : nil
    supervisor = Supervisor(snapshotSignal: options.snapshotSignal, progress: progress)
    session = try SessionDirectory()
    do throws(ToolError) {
      var environment = System.environment()
      if let library = try library?.usable(linkedFrom: session.path) {
        environment = library.environment(from: environment, settings: Self.settings(session.path, options))
        options.report.note("loading \(library.path) into \(program), session \(session.path)")
      }
      pid = try supervisor.start(
        executable: program, arguments: arguments, environment: environment, session: session.path)
    } catch {
      session.remove()
      throw error
    }
  }

  private static func settings(_ session: String, _ options: RunCommand) -> [String: String] {
    var settings = ["UNDEAD_SESSION": session]
    if options.report.noStacks { settings["UNDEAD_BACKTRACES"] = "0" }
    if options.report.verbose { settings["UNDEAD_VERBOSE"] = "1" }
    return settings.merging(options.zombies.settings) { $1 }
  }

  /// Waits for the end of the program and reports.
  ///
  /// - Returns: the exit status of the tool.
  func finish() throws(ToolError) -> Int32 {
    defer { session.remove() }
    let ending = try supervisor.wait(for: pid) { reportOnRequest() }
    do throws(ToolError) {
      let verdict = try report(ending)
      return ending.status != 0 ? ending.status : verdict
    } catch {
      // The program's own status goes first, but nobody may take silence for "no leaks".
      Message.say(error.message)
      return ending.status != 0 ? ending.status : error.status
    }
  }

  // MARK: At the end

  /// Reports on the whole run and returns the exit status that its findings ask for.
  private func report(_ ending: Ending) throws(ToolError) -> Int32 {
    if let obstacle {
      let verdict = try pipeline.emitUnchecked(process(ending), reason: obstacle, to: sink)
      return System.environment("UNDEAD") == "0" ? 0 : verdict
    }
    var loaded: [String: Snapshot] = [:]
    var damaged: ToolError?
    let outcome = SessionOutcome(
      states: session.states(), program: pid, ending: ending,
      isFinal: { [session] file in
        do throws(ToolError) {
          let snapshot = try SnapshotFile.load("\(session.path)/\(file)")
          loaded[file] = snapshot
          return snapshot.metadata("trigger").map { $0 == "exit" || $0.hasPrefix("signal") } ?? false
        } catch {
          damaged = damaged ?? error
          return false
        }
      }, isRunning: ProcessFacts.isRunning)
    if let damaged { throw damaged }
    if outcome.isWithoutSwift {
      try pipeline.emitWithoutSwift(process(ending), to: sink)
      return 0
    }
    var snapshots = outcome.snapshots.compactMap { loaded[$0] }
    let zombies = zombieLogs()
    if let failure = outcome.failure, snapshots.isEmpty {
      let reason = ([failure] + outcome.notes).joined(separator: "; ")
      return try pipeline.emitUnchecked(
        process(ending), reason: reason, zombies: zombies, save: options.save, to: sink)
    }
    if outcome.failure == nil, !snapshots.isEmpty { Self.record(ending, in: &snapshots[0]) }
    let gaps =
      (outcome.failure.map { ["the program itself was not checked: \($0)"] } ?? []) + outcome.notes + zombies.problems
    let omission = ToolchainProcesses.leaveOut(of: &snapshots)
    let verdict = try pipeline.emit(
      snapshots, zombies: zombies, notes: gaps + [omission].compactMap(\.self), isComplete: gaps.isEmpty,
      save: options.save, to: sink, progress: progress)
    // Without findings, a program that was not looked at itself is not known to be clean.
    let isUnknown = outcome.failure != nil || !zombies.problems.isEmpty
    return verdict == 0 && isUnknown ? ExitStatus.toolFailure : verdict
  }

  /// What the processes logged so far about uses of dead objects.
  private func zombieLogs() -> ZombieLogs {
    options.zombies.isOn ? ZombieLogs(session: session.path, program: pid) : ZombieLogs()
  }

  private static func record(_ ending: Ending, in snapshot: inout Snapshot) {
    switch ending {
    case .exited(let status): snapshot.setMetadata("exitStatus", "\(status)")
    case .signalled(let signal): snapshot.setMetadata("signal", "\(signal)")
    }
  }

  /// What is known of a program that left no snapshot.
  private func process(_ ending: Ending) -> LeakReport.Process {
    var process = LeakReport.Process(path: program, arguments: arguments, pid: Int(pid))
    switch ending {
    case .exited(let status): process.exitStatus = Int(status)
    case .signalled(let signal): process.signal = Int(signal)
    }
    return process
  }

  // MARK: On request

  private func reportOnRequest() {
    requestedSnapshots += 1
    do throws(ToolError) {
      if let obstacle { throw .failure("no snapshot can be taken: \(obstacle)") }
      let setting = System.environment("UNDEAD_REQUEST_SIGNAL")
      let request = SnapshotRequest(
        pid: pid, session: session.path, signal: try SnapshotRequest.signal(setting: setting))
      let file = try request.wait(timeout: SnapshotCommand.defaultTimeout, progress: progress)
      let snapshot = try SnapshotFile.load(file)
      unlink(file)
      _ = try pipeline.emit(
        [snapshot], zombies: zombieLogs(), notes: [], isComplete: true,
        save: options.save.map { "\($0).\(requestedSnapshots)" },
        to: try sink.numbered(requestedSnapshots), progress: progress)
    } catch {
      Message.say(error.message)
    }
  }
}
