import UndeadAttach
import UndeadHeap
import UndeadReport
import UndeadSystem

extension TypeCounts {
  /// What a census of a process says, and how much memory, how many files and threads it has.
  fileprivate init(census path: String, of pid: pid_t) throws(ToolError) {
    do {
      try self.init(census: HeapFile(path: path))
    } catch {
      throw .failure("the census of process \(pid) cannot be read: \(error)")
    }
    let resident = MemoryGauge.resident(of: pid)
    if resident > 0 { amounts[Self.resident] = Amount(bytes: Double(resident)) }
    let open = ProcessResources.counts(of: "\(pid)")
    if open.descriptors > 0 { amounts[Self.descriptors] = Amount(count: Double(open.descriptors)) }
    if open.threads > 0 { amounts[Self.threads] = Amount(count: Double(open.threads)) }
  }
}

/// Asks a process under the tool for censuses and for its heap.
struct ProcessCounter {
  let process: ProcessHandle
  let session: SessionFolder
  let signal: Int32

  var pid: pid_t { process.pid }

  /// How long a program may take for an answer, in seconds.
  private static let patience = AskedProgram.defaultTimeout

  func census() throws(ToolError) -> TypeCounts {
    let file = try ask(.census)
    defer { file.remove() }
    return try file.withPath { path throws(ToolError) in try TypeCounts(census: path, of: pid) }
  }

  /// A heap file, whose name is the caller's to take away.
  func heap() throws(ToolError) -> SessionFile { try ask(.heap) }

  private func ask(_ kind: SnapshotRequest.Kind) throws(ToolError) -> SessionFile {
    guard let state = session.state(of: pid), state.stage != .loaded else {
      throw .failure("the library that records was not loaded into process \(pid), or it has ended")
    }
    return try SnapshotRequest(process: process, session: session, signal: signal, kind: kind)
      .wait(timeout: Self.patience, progress: Progress(isOn: false))
  }
}

/// A program that runs already: one under another `undead` counts by itself, of any other copies are made that count.
final class RunningProgram: WatchedWorld {
  let process: ProcessHandle
  private let counter: ProcessCounter?
  var findings: LiveFindings?
  private let progress = Progress()

  init(_ pid: pid_t) throws(ToolError) {
    if try ProcessSnapshot.needsCopy(pid) {
      guard let process = ProcessHandle(of: pid) else { throw .misuse("no such process: \(pid)") }
      self.process = process
      counter = nil
    } else {
      let request = try SnapshotRequest(of: pid, kind: .census)
      process = request.process
      counter = ProcessCounter(process: request.process, session: request.session, signal: request.signal)
    }
    // A watch that is stopped reports what it has seen.
    Interruptions.hold()
    // What can never be copied is said now, not when patience ends.
    if counter == nil { _ = try census() }
  }

  var now: Double { Double(SystemClock.now()) / 1e9 }

  func wait(until time: Double) -> WatchEnd? {
    let end = UInt64(min(max(time, 0), 1e9) * 1e9)
    let reason = Interruptions.wait(until: end, while: process.isRunning) { findings?.look() }
    return reason == .time ? nil : reason
  }

  func census() throws(ToolError) -> TypeCounts {
    if let counter { return try counter.census() }
    let snapshot = try ProcessSnapshot(copyOf: process.pid, for: .census)
    return try TypeCounts(census: snapshot.path, of: process.pid)
  }

  func heap() throws(ToolError) -> HeapSource {
    try HeapSource(process: process.pid, for: .tasks, timeout: nil)
  }

  var executable: String {
    counter?.session.state(of: process.pid)?.executable ?? SymbolicLink.target("/proc/\(process.pid)/exe") ?? ""
  }

  /// Where it logs uses of dead objects.
  var logs: ZombieLogSource { counter.map { .session($0.session) } ?? .process(LiveZombieLog(of: process.pid)) }

  func show(_ text: String) { progress.show(TextLine(text)) }

  func clear() { progress.clear() }
}

/// A program that this tool has started.
final class StartedProgram: WatchedWorld {
  let run: SupervisedRun
  var findings: LiveFindings?
  private let signal: Int32
  /// What is counted: the program, or the one that it has started.
  private var counted: ProcessHandle

  init(_ run: SupervisedRun) throws(ToolError) {
    self.run = run
    counted = run.process
    signal = try SnapshotRequest.signal(setting: System.environment("UNDEAD_REQUEST_SIGNAL"))
  }

  var now: Double { Double(SystemClock.now()) / 1e9 }

  func wait(until time: Double) throws(ToolError) -> WatchEnd? {
    let end = UInt64(min(max(time, 0), 1e9) * 1e9)
    while true {
      let next = min(findings?.look() ?? .max, end)
      if try run.wait(until: next) { return .programEnded }
      if next == end { return nil }
    }
  }

  func census() throws(ToolError) -> TypeCounts {
    let pid = try Self.wanted(run.session.states(), program: run.pid, isMeant: isMeant)
    if pid != counted.pid {
      // By now the number may be another one's.
      guard let process = ProcessHandle(of: pid), isMeant(pid) else {
        throw .failure("process \(pid) has ended, or is none that the program started")
      }
      counted = process
    }
    return try counter.census()
  }

  /// True for a process that runs and that the program has started: a state file that says so is not enough.
  private func isMeant(_ pid: pid_t) -> Bool {
    ProcessFacts.isRunning(pid)
      && (ProcessFacts.isDescendant(pid, of: run.pid)
        || ProcessFacts.environment("UNDEAD_SESSION", of: pid) == run.session.path)
  }

  func heap() throws(ToolError) -> HeapSource { HeapSource(try counter.heap(), of: counted.pid) }

  func show(_ text: String) { run.progress.show(TextLine(text)) }

  private var counter: ProcessCounter { ProcessCounter(process: counted, session: run.session.folder, signal: signal) }

  /// The process that is meant: a script's is the one Swift program that it has started.
  ///
  /// - Parameter isMeant: true for a process that runs and that the program has started.
  static func wanted(
    _ states: [ProcessState], program: pid_t, isMeant: (pid_t) -> Bool
  ) throws(ToolError) -> pid_t {
    if states.contains(where: { $0.pid == program && $0.swiftSeen }) { return program }
    let others = states.filter { $0.swiftSeen && $0.stage == .recording && isMeant($0.pid) }.map(\.pid)
    guard others.count > 1 else { return others.first ?? program }
    let list = others.map(String.init).joined(separator: ", ")
    throw .failure("several Swift programs run (processes \(list)): watch one of them by its process id")
  }

  /// The heap that the program wrote when it ended; nil if it came to none.
  var lastHeap: HeapSource? {
    get throws(ToolError) {
      guard let state = run.session.folder.state(of: counted.pid), !state.newestSnapshot.isEmpty else { return nil }
      return HeapSource(try run.session.folder.snapshot(of: state), of: counted.pid)
    }
  }

  /// How long a program may take to end, in nanoseconds; longer while it looks for leaks, as after any other SIGTERM.
  private static let courtesy: UInt64 = 10_000_000_000
  private static let patience: UInt64 = 60_000_000_000

  /// Ends the program as a shell would, and what a script has started.
  func end() throws(ToolError) {
    let start = SystemClock.now()
    sendToAll(SIGTERM)
    var isKilled = false
    while try !hasEnded() {
      let isChecking = run.session.folder.state(of: counted.pid)?.stage == .scanning
      guard !isKilled, SystemClock.now() > start + (isChecking ? Self.patience : Self.courtesy) else { continue }
      Message.say("the program did not end within 10 s of SIGTERM; it is killed now")
      sendToAll(SIGKILL)
      isKilled = true
    }
  }

  private func sendToAll(_ number: Int32) {
    run.process.send(number)
    if counted.pid != run.pid { counted.send(number) }
  }

  private func hasEnded() throws(ToolError) -> Bool {
    guard try run.wait(until: SystemClock.now() + 50_000_000) else { return false }
    guard counted.pid != run.pid, counted.isRunning else { return true }
    usleep(20000)
    return false
  }
}
