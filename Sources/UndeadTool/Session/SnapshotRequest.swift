import UndeadAttach
import UndeadSystem

/// Asks a running program for a snapshot and waits for it.
struct SnapshotRequest {
  let process: ProcessHandle
  let session: SessionFolder
  /// The signal that the library in the program listens to.
  let signal: Int32
  var kind = Kind.snapshot
  /// The name of a mark.
  var argument = ""

  var pid: pid_t { process.pid }

  /// What is asked for (Documentation/session-protocol.md).
  enum Kind: UInt32 {
    case snapshot = 0
    case heap, census, mark
  }

  /// The signal that the program's environment names, or the default one.
  static func signal(setting: String?) throws(ToolError) -> Int32 {
    let highest = SignalName.realTime.upperBound
    guard let setting, !setting.isEmpty else { return highest - 2 }
    guard let number = Int32(setting), (0...highest).contains(number) else {
      throw .misuse("UNDEAD_REQUEST_SIGNAL=\(setting) is no signal; give a number from 1 to \(highest), or 0 for none")
    }
    guard number > 0 else {
      throw .misuse(
        "snapshots on request are off in this program (UNDEAD_REQUEST_SIGNAL=0); run it without that setting")
    }
    return number
  }

  /// Sends the request until the program takes it up, then waits for the snapshot.
  ///
  /// - Parameters:
  ///   - timeout: in seconds, for the whole.
  /// - Returns: the snapshot, whose name is the caller's to take away.
  func wait(timeout: Double, progress: Progress) throws(ToolError) -> SessionFile {
    let (before, state) = try answer(timeout: timeout, progress: progress)
    guard state.snapshotsWritten != before.snapshotsWritten else {
      throw .failure("process \(pid) could not write the snapshot: \(state.message)")
    }
    return try session.snapshot(of: state)
  }

  /// Asks for a mark, as ``wait(timeout:progress:)``.
  ///
  /// - Returns: the number of the generation that began.
  func mark(timeout: Double) throws(ToolError) -> UInt32 {
    let (_, state) = try answer(timeout: timeout, progress: Progress(isOn: false))
    guard state.marked > 0 else {
      throw .failure(
        "process \(pid) began no generation: it has 4095 already, records nothing any more, or their backtraces fill half "
          + "of the memory that is reserved for them; start it anew to tell more of them apart")
    }
    return state.marked
  }

  /// The state of the process before the request and after its answer.
  private func answer(timeout: Double, progress: Progress) throws(ToolError) -> (ProcessState, ProcessState) {
    let end = SystemClock.now() + UInt64(max(timeout, 0) * 1e9)
    let file = try open(until: end)
    defer { close(file) }
    guard var state = session.state(of: pid) else { throw gone }
    if state.stage == .stoodAside { throw .failure("process \(pid) cannot be checked: \(state.message)") }
    try tell(file)
    // A mark that was not taken in time is not to be made later, when nobody asks any more.
    defer { if kind == .mark { try? write(withUnsafeBytes(of: Self.nothing.littleEndian, Array.init), to: file) } }
    let before = state
    var nextSignal: UInt64 = 0
    // The moment may have been a bad one, in the middle of malloc: the next one need not be.
    var patience: UInt64 = 4_000_000
    while state.requestsReceived == before.requestsReceived || state.requestsAnswered == before.requestsAnswered {
      let now = SystemClock.now()
      guard now < end else { throw late(taken: state.requestsReceived != before.requestsReceived, timeout) }
      if state.requestsReceived == before.requestsReceived && now >= nextSignal {
        try send()
        nextSignal = now + patience
        patience = min(2 * patience, 100_000_000)
      } else if !process.isRunning {
        throw gone
      }
      progress.show(state)
      usleep(2000)
      guard let next = session.state(of: pid) else { throw gone }
      state = next
    }
    progress.clear()
    return (before, state)
  }

  /// Opens the state file for this request alone: another one may be under way.
  private func open(until end: UInt64) throws(ToolError) -> Int32 {
    guard let file = session.openState(of: pid, mode: O_WRONLY) else {
      let code = errno
      throw [EACCES, EPERM].contains(code)
        ? .failure(
          "process \(pid) cannot be asked: its state file is another user's; run 'undead' as that user, or as root")
        : gone
    }
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      guard SystemClock.now() < end else {
        close(file)
        throw .failure(
          "another 'undead' asks process \(pid) for something, and did not get it in time; try again later")
      }
      usleep(2000)
    }
    return file
  }

  /// In place of a kind: a signal that comes now asks for nothing.
  private static let nothing: UInt32 = 4

  /// Tells the library what the next signal asks for.
  private func tell(_ file: Int32) throws(ToolError) {
    let room = 252
    var bytes = withUnsafeBytes(of: kind.rawValue.littleEndian, Array.init)
    var name = Array(argument.utf8.prefix(room - 1))
    // Not in the middle of a character.
    while !name.isEmpty, String(validating: name, as: UTF8.self) == nil { name.removeLast() }
    bytes += name + Array(repeating: 0, count: room - name.count)
    try write(bytes, to: file)
  }

  private func write(_ bytes: [UInt8], to file: Int32) throws(ToolError) {
    guard pwrite(file, bytes, bytes.count, ProcessState.requestOffset) == bytes.count else {
      throw .failure("cannot tell process \(pid) what is asked for: \(SystemError.text())")
    }
  }

  private func send() throws(ToolError) {
    // Without the library's handler a real-time signal would end the program.
    guard ProcessFacts.handles(signal, pid: pid) else {
      guard process.isRunning else { throw gone }
      throw .failure(
        "process \(pid) does not listen to signal \(signal): the program replaced the handler, or ignores it; "
          + "choose another with UNDEAD_REQUEST_SIGNAL=NUMBER when you start it")
    }
    // It may be stopped: signals would gather, and be answered one after the other.
    if ProcessFacts.isPending(signal, pid: pid) { return }
    if let code = process.send(signal) {
      throw code == ESRCH ? gone : .failure("cannot send signal \(signal) to process \(pid): \(SystemError.text(code))")
    }
  }

  private var gone: ToolError { .failure("process \(pid) ended before it could write the snapshot") }

  private func late(taken: Bool, _ timeout: Double) -> ToolError {
    let seconds = timeout == timeout.rounded() && abs(timeout) < 1e9 ? "\(Int(timeout))" : "\(timeout)"
    if taken {
      return .failure("process \(pid) did not finish the snapshot within \(seconds) s; give it more with --timeout")
    }
    if ProcessFacts.masks(signal, pid: pid) {
      return .failure(
        "process \(pid) blocks signal \(signal) in every thread, so it cannot be asked for a snapshot; "
          + "choose another with UNDEAD_REQUEST_SIGNAL=NUMBER when you start it")
    }
    return .failure(
      "process \(pid) did not answer within \(seconds) s: is it stopped, or busy inside the allocator or the loader? "
        + "Try again, or give it more time with --timeout")
  }
}

extension SnapshotRequest {
  /// A request to a process under the tool.
  ///
  /// - Parameter pid: of the program, or of the `undead run` that started it.
  init(of pid: pid_t, kind: Kind, argument: String = "") throws(ToolError) {
    guard ProcessFacts.isRunning(pid) else { throw .misuse("no such process: \(pid)") }
    let pid = SessionDirectory.program(of: pid) ?? pid
    guard let process = ProcessHandle(of: pid) else { throw .misuse("no such process: \(pid)") }
    guard let session = try SessionDirectory.containing(pid) else {
      if let elsewhere = ProcessFacts.environment("UNDEAD_SESSION", of: pid), !System.isDirectory(elsewhere) {
        throw .misuse(
          "process \(pid) runs under the tool, but its session directory '\(elsewhere)' is not to be seen from here, as that of "
            + "another container: run 'undead' inside of it, with the process id that it has there")
      }
      throw .misuse(
        "process \(pid) was not started by 'undead run' (or by another user); "
          + "look at it with 'undead leaks \(pid)', or with 'undead watch \(pid)' for what grows; "
          + "or start it with 'undead run -- PROGRAM'")
    }
    let setting = ProcessFacts.environment("UNDEAD_REQUEST_SIGNAL", of: pid)
    // What was read may be another one's that has the number by now.
    guard process.isRunning else { throw .misuse("no such process: \(pid)") }
    self.init(
      process: process, session: session, signal: try SnapshotRequest.signal(setting: setting), kind: kind,
      argument: argument)
  }
}
