import UndeadAttach
import UndeadReport
import UndeadSystem

/// A command that runs under the tool in a session of its own, from its start to the exit status of the tool.
final class SupervisedRun {
  let session: SessionDirectory
  let progress = Progress()
  let pid: pid_t
  /// The command, which cannot be another process before its end was seen.
  let process: ProcessHandle
  private let executable: String
  private let arguments: [String]
  private let supervisor: Supervisor
  private(set) var ending: Ending?

  /// What is loaded into the command, and its environment.
  struct Instrument {
    var library: PreloadLibrary
    var settings: [String: String]
    /// Called with the path of the library and that of the session.
    var onLoad: (String, String) -> Void
  }

  /// Starts the command.
  ///
  /// - Parameters:
  ///   - arguments: its own name first, byte for byte.
  ///   - instrument: nil to run it as it is.
  ///   - snapshotSignal: the signal by which the user asks the tool for a snapshot.
  ///   - showsChecks: false if the line of ``progress`` reports something else than checks.
  /// - Throws: `ToolError`; then nothing was started.
  init(
    executable: String, arguments: [[UInt8]], instrument: Instrument?, snapshotSignal: Int32? = nil,
    showsChecks: Bool = true
  ) throws(ToolError) {
    self.executable = executable
    self.arguments = arguments.map { String(decoding: $0, as: UTF8.self) }
    supervisor = Supervisor(snapshotSignal: snapshotSignal, progress: showsChecks ? progress : Progress(isOn: false))
    session = try SessionDirectory()
    do throws(ToolError) {
      var environment = System.environment()
      if let instrument {
        let library = try instrument.library.usable(linkedFrom: session.path)
        var settings = instrument.settings.merging(["UNDEAD_SESSION": session.path]) { $1 }
        // A sandbox that lets the tool work (a container's) lets the instrument work; others it leaves alone.
        if let filters = ProcessFacts.systemCallFilters() { settings["UNDEAD_FILTERS"] = String(filters) }
        environment = library.environment(from: environment, settings: settings)
        instrument.onLoad(library.path, session.path)
      }
      pid = try supervisor.start(
        executable: executable, arguments: arguments, environment: environment, session: session.folder)
    } catch {
      session.remove()
      throw error
    }
    // It is not waited for yet, so it is there even if it has ended.
    guard let process = ProcessHandle(of: pid) else {
      session.remove()
      throw .failure("there is no /proc, where processes are seen: mount it")
    }
    self.process = process
  }

  /// Waits until the command ends, or until `time` (see `SystemClock.now()`).
  ///
  /// - Returns: true if it has ended.
  func wait(until time: UInt64) throws(ToolError) -> Bool {
    if ending == nil { ending = try supervisor.wait(for: pid, until: time, onSnapshot: {}) }
    return ending != nil
  }

  /// Waits for the end of the command and reports.
  ///
  /// - Parameters:
  ///   - wasEnded: the tool ended the command, so that its status says nothing.
  ///   - onSnapshot: called when the user asks for a snapshot.
  ///   - onLook: called at the time that it returned the last time (see `SystemClock.now()`), at first at once; nil for never.
  ///   - report: reports on the ended command, and returns the exit status that its findings ask for.
  func finish(
    wasEnded: Bool = false, onSnapshot: () -> Void = {}, onLook: (() -> UInt64)? = nil,
    report: (Ending) throws(ToolError) -> Int32
  ) throws(ToolError) -> Int32 {
    defer { session.remove() }
    let ending: Ending
    if let known = self.ending {
      ending = known
    } else {
      ending = try wait(onSnapshot: onSnapshot, onLook: onLook)
    }
    let status = wasEnded ? 0 : ending.status
    supervisor.release { [session] in session.removeFiles() }
    do throws(ToolError) {
      let verdict = try report(ending)
      return status != 0 ? status : verdict
    } catch {
      // The command's own status goes first, but nobody may take silence for "no leaks".
      Message.say(TextLine(error.message))
      return status != 0 ? status : error.status
    }
  }

  private func wait(onSnapshot: () -> Void, onLook: (() -> UInt64)?) throws(ToolError) -> Ending {
    guard let onLook else { return try supervisor.wait(for: pid, onSnapshot: onSnapshot) }
    while true {
      if let ending = try supervisor.wait(for: pid, until: onLook(), onSnapshot: onSnapshot) { return ending }
    }
  }

  /// What is known of the command without a snapshot.
  ///
  /// - Parameter ending: nil while it runs.
  func process(_ ending: Ending?) -> LeakReport.Process {
    var process = LeakReport.Process(path: executable, arguments: arguments, pid: Int(pid))
    switch ending {
    case .exited(let status): process.exitStatus = Int(status)
    case .signalled(let signal): process.signal = Int(signal)
    case nil: break
    }
    return process
  }
}
