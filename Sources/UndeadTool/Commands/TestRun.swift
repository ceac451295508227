import Glibc
import UndeadReport

/// One run of `swift test` under the tool, from its start to the exit status of the tool.
final class TestRun {
  private let pipeline: ReportPipeline
  private let sink: OutputSink
  private let swift: String
  /// As text, for the report.
  private let arguments: [String]
  private let isTurnedOff = System.environment("UNDEAD") == "0"
  private let progress = Progress()
  private let session: SessionDirectory
  private let supervisor: Supervisor
  private let pid: pid_t

  /// Starts `swift test`.
  ///
  /// - Parameters:
  ///   - arguments: what comes after `swift test`, byte for byte.
  /// - Throws: `ToolError`; then nothing was started.
  init(
    swift: String, arguments: [[UInt8]], options: DisplayOptions, pipeline: ReportPipeline, sink: OutputSink
  ) throws(ToolError) {
    self.swift = swift
    self.pipeline = pipeline
    self.sink = sink
    let command = [Array("swift".utf8), Array("test".utf8)] + arguments
    self.arguments = command.map { String(decoding: $0, as: UTF8.self) }
    let library = isTurnedOff ? nil : try PreloadLibrary.find(tool: System.linkTarget("/proc/self/exe") ?? "")
    supervisor = Supervisor(snapshotSignal: nil, progress: progress)
    session = try SessionDirectory()
    do throws(ToolError) {
      var environment = System.environment()
      if let library = try library?.usable(linkedFrom: session.path) {
        environment = library.environment(from: environment, settings: Self.settings(session.path, options))
        options.note("loading \(library.path) into the test programs of \(swift), session \(session.path)")
      }
      pid = try supervisor.start(
        executable: swift, arguments: command, environment: environment, session: session.path)
    } catch {
      session.remove()
      throw error
    }
  }

  private static func settings(_ session: String, _ report: DisplayOptions) -> [String: String] {
    var settings = ["UNDEAD_SESSION": session, "UNDEAD_ONLY": "tests"]
    if report.noStacks { settings["UNDEAD_BACKTRACES"] = "0" }
    if report.verbose { settings["UNDEAD_VERBOSE"] = "1" }
    return settings
  }

  /// Waits for the end of the tests and reports.
  ///
  /// - Returns: the exit status of the tool.
  func finish() throws(ToolError) -> Int32 {
    defer { session.remove() }
    let ending = try supervisor.wait(for: pid) {}
    do throws(ToolError) {
      let verdict = try report(ending)
      return ending.status != 0 ? ending.status : verdict
    } catch {
      // The tests' own status goes first, but nobody may take silence for "no leaks".
      Message.say(error.message)
      return ending.status != 0 ? ending.status : error.status
    }
  }

  private func report(_ ending: Ending) throws(ToolError) -> Int32 {
    if isTurnedOff {
      return try unchecked(ending, "UNDEAD=0 in the environment turns the instrument off", status: 0)
    }
    var loaded: [String: Snapshot] = [:]
    var damaged: ToolError?
    let outcome = TestOutcome(
      states: session.states(),
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
    let snapshots = outcome.snapshots.compactMap { loaded[$0] }
    guard !snapshots.isEmpty else {
      let reasons = outcome.unchecked + outcome.notes
      return try unchecked(
        ending, reasons.isEmpty ? reasonForNothing(ending) : reasons.joined(separator: "; "),
        status: ExitStatus.toolFailure)
    }
    let verdict = try pipeline.emit(
      snapshots, of: process(ending), notes: outcome.unchecked + outcome.notes, isComplete: outcome.unchecked.isEmpty,
      save: nil, to: sink, progress: progress)
    // Without findings, a test process that was not looked at is not known to be clean.
    return verdict == 0 && !outcome.unchecked.isEmpty ? ExitStatus.toolFailure : verdict
  }

  private func unchecked(_ ending: Ending, _ reason: String, status: Int32) throws(ToolError) -> Int32 {
    try pipeline.emitUnchecked(process(ending), reason: reason, to: sink)
    return status
  }

  /// Why no test process was seen.
  private func reasonForNothing(_ ending: Ending) -> String {
    guard access("\(session.path)/relay", F_OK) == 0 else {
      return "the instrument was not loaded into 'swift test' ('\(swift)'): the dynamic loader refused it "
        + "(it says so above), or that is not the 'swift' of a toolchain"
    }
    return ending.status == 0
      ? "'swift test' started no test program"
      : "'swift test' ended with \(ending.status) before it started a test program (it says why above)"
  }

  private func process(_ ending: Ending) -> LeakReport.Process {
    var process = LeakReport.Process(path: swift, arguments: arguments, pid: Int(pid))
    switch ending {
    case .exited(let status): process.exitStatus = Int(status)
    case .signalled(let signal): process.signal = Int(signal)
    }
    return process
  }
}
