import UndeadSystem

/// Lives beside the program: survives the signals that are meant for it, hands on those that only the tool got.
final class Supervisor {
  /// The signals that the tool takes on behalf of the program.
  private static let forwarded: [Int32] =
    [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGSTKFLT, SIGURG, SIGWINCH, SIGIO, SIGPWR]
    + Array(SignalName.realTime)
  /// Those that are often sent to a whole process group, so that the program may have got them already.
  private static let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
  private static let courtesy: UInt64 = 50_000_000

  private var session: SessionFolder?
  private let progress: Progress
  private let snapshotSignal: Int32?
  private let waited: sigset_t
  /// The signal mask that the tool was started with, which is the program's.
  private let original: sigset_t
  private var delayed: [(signal: Int32, due: UInt64)] = []
  private var hasWaited = false

  /// Starts to hold back the signals; they stay pending until `wait`.
  init(snapshotSignal: Int32?, progress: Progress) {
    self.snapshotSignal = snapshotSignal
    self.progress = progress
    var set = sigset_t()
    sigemptyset(&set)
    for signal in Self.forwarded + [SIGCHLD] { sigaddset(&set, signal) }
    if let snapshotSignal { sigaddset(&set, snapshotSignal) }
    var held = set
    Self.addWriteSignals(to: &held)
    var original = sigset_t()
    pthread_sigmask(SIG_BLOCK, &held, &original)
    waited = set
    self.original = original
  }

  /// Output of ours into a pipe that nobody reads, or beyond a file size limit, is an error to report, not a reason to
  /// die.
  private static func addWriteSignals(to set: inout sigset_t) {
    sigaddset(&set, SIGPIPE)
    sigaddset(&set, SIGXFSZ)
  }

  func start(
    executable: String, arguments: [[UInt8]], environment: [[UInt8]], session: SessionFolder
  ) throws(ToolError) -> pid_t {
    self.session = session
    let pid = try Launcher.start(
      executable: executable, arguments: arguments, environment: environment, mask: original)
    // The tool's parent may ignore SIGCHLD, which the program inherits; but then no status would be kept for us.
    signal(SIGCHLD, SIG_DFL)
    return pid
  }

  func wait(for pid: pid_t, onSnapshot: () -> Void) throws(ToolError) -> Ending {
    while true {
      if let ending = try wait(for: pid, until: .max, onSnapshot: onSnapshot) { return ending }
    }
  }

  /// Waits until the program ends, or until `time` (see `SystemClock.now()`): then it returns nil.
  ///
  /// - Parameters:
  ///   - onSnapshot: called when the tool gets the user's snapshot signal.
  func wait(for pid: pid_t, until time: UInt64, onSnapshot: () -> Void) throws(ToolError) -> Ending? {
    while true {
      var status: Int32 = 0
      let ended = waitpid(pid, &status, WNOHANG)
      if ended == pid {
        progress.clear()
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .signalled(status & 0x7F)
      }
      if ended < 0 && errno != EINTR {
        throw .failure("lost sight of the program (process \(pid)): \(SystemError.text())")
      }
      deliverDelayed(to: pid)
      let now = SystemClock.now()
      guard now < time else { return nil }
      var set = waited
      var info = siginfo_t()
      var pause = self.pause
      let rest = timespec(tv_sec: Int((time - now) / 1_000_000_000), tv_nsec: Int((time - now) % 1_000_000_000))
      if (rest.tv_sec, rest.tv_nsec) < (pause.tv_sec, pause.tv_nsec) { pause = rest }
      if !hasWaited { OwnCode.letGo() }
      hasWaited = true
      let signal = sigtimedwait(&set, &info, &pause)
      if signal < 0 {
        showProgress()
      } else if signal == snapshotSignal {
        onSnapshot()
      } else if signal != SIGCHLD {
        take(signal, info, for: pid)
      }
    }
  }

  /// How long nothing needs to be looked at.
  private var pause: timespec {
    if !delayed.isEmpty { return timespec(tv_sec: 0, tv_nsec: 10_000_000) }
    return progress.isOn ? timespec(tv_sec: 0, tv_nsec: 200_000_000) : timespec(tv_sec: 3600, tv_nsec: 0)
  }

  private func take(_ signal: Int32, _ info: siginfo_t, for pid: pid_t) {
    // The terminal (the kernel) sends to the whole group: the program has it already.
    let sentByProcess = info.si_code == 0 || info.si_code < 0
    guard sentByProcess else { return }
    if Self.ending.contains(signal) {
      if !delayed.contains(where: { $0.signal == signal }) {
        delayed.append((signal, SystemClock.now() + Self.courtesy))
      }
    } else {
      kill(pid, signal)
    }
  }

  /// A program that ends of the signal, or is already checked because of it, got it with its group.
  private func deliverDelayed(to pid: pid_t) {
    let now = SystemClock.now()
    for entry in delayed where entry.due <= now {
      let stage = session?.state(of: pid)?.stage
      if stage != .scanning && stage != .snapshotWritten { kill(pid, entry.signal) }
    }
    delayed.removeAll { $0.due <= now }
  }

  private func showProgress() {
    guard progress.isOn else { return }
    if let session, let state = session.processes.lazy.compactMap(session.state).first(where: { $0.stage == .scanning })
    {
      progress.show(state)
    } else {
      progress.clear()
    }
  }

  /// From now on the tool can be interrupted like any other program; `cleanUp` then runs first, on another thread.
  ///
  /// What came while the program ran was meant for the program.
  func release(_ cleanUp: @escaping @Sendable () -> Void) {
    var set = waited
    var none = timespec()
    while sigtimedwait(&set, nil, &none) > 0 {}
    var ending = sigset_t()
    sigemptyset(&ending)
    var original = original
    for signal in Self.ending where sigismember(&original, signal) == 0 { sigaddset(&ending, signal) }
    var mask = original
    Self.addWriteSignals(to: &mask)
    for signal in Self.ending { sigaddset(&mask, signal) }
    pthread_sigmask(SIG_SETMASK, &mask, nil)
    Interruption.clean(after: ending, cleanUp)
  }
}
