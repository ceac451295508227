import Glibc
import UndeadReport

/// What a finished session amounts to: which snapshots to read, and why others are missing.
struct SessionOutcome: Equatable {
  /// Files in the session directory, the program's own first, then those of its children by pid.
  var snapshots: [String] = []
  /// Why the program itself was not checked; nil if it was, or if there was nothing to check.
  var failure: String?
  /// True if no process of the session had a Swift runtime.
  var isWithoutSwift = false
  /// Processes that should have been checked and were not, one sentence each.
  var notes: [String] = []
  /// What else the reader of the report must know: children that died before anything could be checked.
  var deaths: String?

  /// Judges a session by the states that its processes left.
  ///
  /// - Parameters:
  ///   - program: process id of the program itself.
  ///   - isFinal: says whether a snapshot file was written at the end of its process.
  ///   - isRunning: says whether a process is still there.
  init(
    states: [ProcessState], program: pid_t, ending: Ending, isFinal: (String) -> Bool, isRunning: (pid_t) -> Bool
  ) {
    let main = states.first { $0.pid == program }
    let relevant = states.filter { $0.swiftSeen || $0.stage == .stoodAside || ($0 == main && $0.stage == .aboutToExec) }
    isWithoutSwift = main != nil && relevant.isEmpty

    if let main {
      if Self.hasFinalSnapshot(main, isFinal) {
        if main.swiftSeen { snapshots.append(main.newestSnapshot) }
      } else if relevant.contains(main) {
        failure = Self.reason(main, ending)
      }
    } else {
      failure =
        "the instrument was not loaded into the program: the dynamic loader refused it (it says so above), "
        + "or the program's file has capabilities, with which the loader ignores preloaded libraries"
    }
    var died: [ProcessState] = []
    for child in relevant where child.pid != program {
      if Self.hasFinalSnapshot(child, isFinal) {
        snapshots.append(child.newestSnapshot)
      } else if !child.forkedWithoutExec || child.stage == .stoodAside {
        if child.wasKilled, !isRunning(child.pid) {
          died.append(child)
        } else {
          notes.append(Self.note(child, isRunning: isRunning(child.pid)))
        }
      }
    }
    if snapshots.isEmpty {
      notes += died.map { Self.note($0, isRunning: false) }
    } else {
      deaths = Self.note(onDead: died.map(\.commandLine), "that the program started")
    }
    // A shell, say, whose Swift children all were killed: that is not "no leaks".
    if snapshots.isEmpty && failure == nil && !notes.isEmpty { failure = notes.removeFirst() }
  }

  /// Why nothing was checked, in one line: many processes that ended alike are listed as one.
  var reason: String? {
    failure.map { ([$0] + NoteFolding.folded(notes)).joined(separator: "; ") }
  }

  private static let namedProcessLimit = 3

  /// Tells of children that died before they could be checked, as a death test wants it; nil if there were none.
  static func note(onDead commands: [String], _ origin: String) -> String? {
    guard !commands.isEmpty else { return nil }
    let named = commands.prefix(namedProcessLimit).joined(separator: ", ")
    let more = commands.count - namedProcessLimit
    return "not checked: \(commands.count) process\(commands.count == 1 ? "" : "es") \(origin) and that died: \(named)"
      + (more > 0 ? " and \(more) more" : "")
  }

  static func hasFinalSnapshot(_ state: ProcessState, _ isFinal: (String) -> Bool) -> Bool {
    // A stage after the last snapshot means that the program went on after it.
    state.stage == .snapshotWritten && !state.newestSnapshot.isEmpty && isFinal(state.newestSnapshot)
  }

  private static func reason(_ state: ProcessState, _ ending: Ending) -> String {
    switch (state.stage, ending) {
    case (.stoodAside, _):
      return state.message.isEmpty ? "the instrument stood aside" : state.message
    case (.snapshotFailed, _):
      return "the check failed: \(state.message.isEmpty ? "no reason is known" : state.message)"
    case (.scanning, .signalled(let signal)):
      return "the program was ended by \(SignalName.text(signal)) during the check"
    case (_, .signalled(let signal)):
      return "the program was ended by \(SignalName.text(signal)) before it could be checked"
    case (.scanning, _):
      return "the program ended during the check"
    case (.aboutToExec, _):
      return "the program replaced itself (exec) by one that the instrument could not be loaded into"
    case (.exitedWithoutCheck, _):
      return "the program ended by _exit or quick_exit, which skip the check at exit; let it end by exit, "
        + "or take a snapshot while it runs ('undead leaks PID')"
    default:
      return "the program ended neither by exit nor by a return from main, at which the check is made"
    }
  }

  /// Why a process that is not the program itself was not checked.
  static func note(_ state: ProcessState, isRunning: Bool) -> String {
    let name = state.executable.isEmpty ? "process \(state.pid)" : "process \(state.pid) (\(state.commandLine))"
    if isRunning { return "\(name) still runs and was not checked" }
    switch state.stage {
    case .stoodAside, .snapshotFailed: return "\(name) was not checked: \(state.message)"
    case .exitedWithoutCheck: return "\(name) was not checked: it ended by _exit or quick_exit"
    case .aboutToExec: return "\(name) was not checked: it replaced itself by a program without the instrument"
    default: return "\(name) was not checked: it was killed, or ended neither by exit nor by a return from main"
    }
  }
}
