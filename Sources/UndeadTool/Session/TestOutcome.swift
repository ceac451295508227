import Glibc

/// What a finished test run amounts to: which snapshots to read, and which test processes could not be checked.
struct TestOutcome: Equatable {
  /// Files in the session directory, those of the test programs first, each by pid.
  var snapshots: [String] = []
  /// Processes of test programs, also those that could not be checked.
  var testProcesses = 0
  /// Why test processes were not checked, one sentence each.
  var unchecked: [String] = []
  /// What else the reader of the report must know.
  var notes: [String] = []

  /// Judges a session by the states that its processes left; see `SessionOutcome` for the parameters.
  init(states: [ProcessState], isFinal: (String) -> Bool, isRunning: (pid_t) -> Bool) {
    var others: [String] = []
    var died: [String] = []
    let parents = Dictionary(states.map { ($0.pid, $0.parent) }) { first, _ in first }
    let tests = Set(states.filter { TestPrograms.contains($0.executable) }.map(\.pid))
    for state in states where state.swiftSeen || state.stage == .stoodAside {
      let isTest = TestPrograms.contains(state.executable) && !state.forkedWithoutExec
      if isTest { testProcesses += 1 }
      if SessionOutcome.hasFinalSnapshot(state, isFinal) {
        if isTest { snapshots.append(state.newestSnapshot) } else { others.append(state.newestSnapshot) }
      } else if isTest, state.diedUnchecked, !isRunning(state.pid),
        Self.isStarted(state.pid, by: tests, parents)
      {
        testProcesses -= 1
        died.append(state.commandLine)
      } else if isTest {
        unchecked.append(SessionOutcome.note(state, isRunning: isRunning(state.pid)))
      } else if !state.forkedWithoutExec {
        notes.append(SessionOutcome.note(state, isRunning: isRunning(state.pid)))
      }
    }
    if let note = SessionOutcome.note(onDead: died, "that tests started") { notes.append(note) }
    if testProcesses > 0 {
      let children = others.isEmpty ? "" : " and \(Self.processes(others.count)) that they started"
      notes.insert("checked: \(snapshots.count) of \(Self.processes(testProcesses, "test "))\(children)", at: 0)
    }
    snapshots += others
  }

  /// True for a process that a test started, directly or not: a test that is to end its process (an exit test) runs in one.
  private static func isStarted(_ pid: pid_t, by tests: Set<pid_t>, _ parents: [pid_t: pid_t]) -> Bool {
    var seen: Set<pid_t> = [pid]
    var process = pid
    while let parent = parents[process], seen.insert(parent).inserted {
      if tests.contains(parent) { return true }
      process = parent
    }
    return false
  }

  private static func processes(_ count: Int, _ kind: String = "") -> String {
    "\(count) \(kind)process\(count == 1 ? "" : "es")"
  }
}
