import Glibc
import UndeadHeap
import UndeadReport

/// Asks a process under the tool for censuses and for its heap.
struct ProcessCounter {
  let pid: pid_t
  let session: String
  let signal: Int32

  /// How long a program may take for an answer, in seconds.
  private static let patience = AskedProgram.defaultTimeout

  func census() throws(ToolError) -> TypeCounts {
    let file = try ask(.census)
    defer { unlink(file) }
    do {
      return try TypeCounts(census: HeapFile(path: file))
    } catch {
      throw .failure("the census of process \(pid) cannot be read: \(error)")
    }
  }

  /// The path of a heap file, which belongs to the caller.
  func heap() throws(ToolError) -> String { try ask(.heap) }

  private func ask(_ kind: SnapshotRequest.Kind) throws(ToolError) -> String {
    guard let state = ProcessState(pid: pid, session: session), state.stage != .loaded else {
      throw .failure("the library that records was not loaded into process \(pid), or it has ended")
    }
    return try SnapshotRequest(pid: pid, session: session, signal: signal, kind: kind)
      .wait(timeout: Self.patience, progress: Progress(isOn: false))
  }
}

/// A program that runs under another `undead`.
final class RunningProgram: WatchedWorld {
  let counter: ProcessCounter
  private let progress = Progress()
  private let interrupts: sigset_t

  /// - Throws: `ToolError` (misuse) if there is no such process, or it is not under the tool.
  init(_ pid: pid_t) throws(ToolError) {
    let request = try SnapshotRequest(of: pid, kind: .census)
    counter = ProcessCounter(pid: request.pid, session: request.session, signal: request.signal)
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&set, signal) }
    // Whoever stops the watch wants to know what it has seen.
    pthread_sigmask(SIG_BLOCK, &set, nil)
    interrupts = set
  }

  var now: Double { Double(System.now()) / 1e9 }

  func wait(until time: Double) -> WatchEnd? {
    while true {
      guard ProcessFacts.isRunning(counter.pid) else { return .programEnded }
      let rest = min(max(time - now, 0), 0.1)
      var set = interrupts
      var pause = timespec(tv_sec: 0, tv_nsec: Int(rest * 1e9))
      if sigtimedwait(&set, nil, &pause) > 0 { return .interrupted }
      if now >= time { return nil }
    }
  }

  func census() throws(ToolError) -> TypeCounts { try counter.census() }

  func show(_ text: String) { progress.show(TextLine(text)) }

  func clear() { progress.clear() }
}

/// A program that this tool has started.
final class StartedProgram: WatchedWorld {
  let run: SupervisedRun
  private let signal: Int32
  /// What is counted: the program, or the one that it has started.
  private var counted: pid_t

  init(_ run: SupervisedRun) throws(ToolError) {
    self.run = run
    counted = run.pid
    signal = try SnapshotRequest.signal(setting: System.environment("UNDEAD_REQUEST_SIGNAL"))
  }

  var now: Double { Double(System.now()) / 1e9 }

  func wait(until time: Double) throws(ToolError) -> WatchEnd? {
    try run.wait(until: UInt64(min(max(time, 0), 1e9) * 1e9)) ? .programEnded : nil
  }

  func census() throws(ToolError) -> TypeCounts {
    counted = try Self.wanted(run.session.states(), program: run.pid, isRunning: ProcessFacts.isRunning)
    return try counter.census()
  }

  /// The path of a heap file, which belongs to the caller.
  func heap() throws(ToolError) -> String { try counter.heap() }

  func show(_ text: String) { run.progress.show(TextLine(text)) }

  private var counter: ProcessCounter { ProcessCounter(pid: counted, session: run.session.path, signal: signal) }

  /// The process that is meant: a script's is the one Swift program that it has started.
  ///
  /// - Throws: `ToolError` (failure) if there are several.
  static func wanted(
    _ states: [ProcessState], program: pid_t, isRunning: (pid_t) -> Bool
  ) throws(ToolError) -> pid_t {
    if states.contains(where: { $0.pid == program && $0.swiftSeen }) { return program }
    let others = states.filter { $0.swiftSeen && $0.stage == .recording && isRunning($0.pid) }.map(\.pid)
    guard others.count > 1 else { return others.first ?? program }
    let list = others.map(String.init).joined(separator: ", ")
    throw .failure("several Swift programs run (processes \(list)): watch one of them by its process id")
  }

  /// The heap file that the program wrote when it ended; nil if it came to none.
  var lastHeap: String? {
    guard let state = ProcessState(pid: counted, session: run.session.path), !state.newestSnapshot.isEmpty else {
      return nil
    }
    return "\(run.session.path)/\(state.newestSnapshot)"
  }

  /// How long a program may take to end, in nanoseconds; longer while it looks for leaks, as after any other SIGTERM.
  private static let courtesy: UInt64 = 10_000_000_000
  private static let patience: UInt64 = 60_000_000_000

  /// Ends the program as a shell would, and what a script has started.
  func end() throws(ToolError) {
    let start = System.now()
    kill(run.pid, SIGTERM)
    if counted != run.pid, ProcessFacts.isRunning(counted) { kill(counted, SIGTERM) }
    var isKilled = false
    while try !hasEnded() {
      let isChecking = ProcessState(pid: counted, session: run.session.path)?.stage == .scanning
      guard !isKilled, System.now() > start + (isChecking ? Self.patience : Self.courtesy) else { continue }
      Message.say("the program did not end within 10 s of SIGTERM; it is killed now")
      kill(run.pid, SIGKILL)
      if counted != run.pid, ProcessFacts.isRunning(counted) { kill(counted, SIGKILL) }
      isKilled = true
    }
  }

  private func hasEnded() throws(ToolError) -> Bool {
    guard try run.wait(until: System.now() + 50_000_000) else { return false }
    guard counted != run.pid, ProcessFacts.isRunning(counted) else { return true }
    usleep(20000)
    return false
  }
}
