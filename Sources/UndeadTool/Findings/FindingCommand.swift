import Glibc
import UndeadReport
import UndeadSystem

/// Runs the user's command for findings (`--on-finding`): one at a time, so many an hour, each for so long.
///
/// What is found meanwhile waits in `queue`; uses of dead objects that wait are one report. The owner calls ``look()`` now and
/// then and ``finish()`` at the end. Nothing that the command does changes the exit status of the tool or concerns the program.
final class FindingCommand {
  struct Limits {
    /// How long a command may run, in nanoseconds.
    var time: UInt64 = 60_000_000_000
    var perHour = 20
    /// Findings that wait.
    var waiting = 16
  }

  /// What a finding is about.
  enum Kind: String {
    case zombie, leak, memory, growth
  }

  /// A finding that the command has not got yet.
  private struct Waiting {
    var kind: Kind
    var report: LeakReport?
    /// In place of ``report``: what is no report of leaks.
    var text = ""
    /// Names after `UNDEAD_FINDING_`.
    var facts: [String: String]
  }

  private let command: String
  private let limits: Limits
  private var queue: [Waiting] = []
  private var running: (pid: pid_t, end: UInt64)?
  /// When the commands of the last hour began.
  private var starts: [UInt64] = []
  private var hasFailed = false
  private var hasDropped = false

  init(_ command: String, limits: Limits = Limits()) {
    self.command = command
    self.limits = limits
  }

  // MARK: Findings

  /// In one report: logs are data of the program.
  private static let mostZombies = 1000

  /// Hands over a report; one of zombies joins another that waits.
  func add(_ kind: Kind, _ report: LeakReport, facts: [String: String] = [:]) {
    if kind == .zombie, let place = queue.lastIndex(where: { $0.kind == .zombie }) {
      var known = queue[place].report ?? report
      known.zombies += report.zombies.prefix(max(0, Self.mostZombies - known.zombies.count))
      known.summary.zombies = known.zombies.count
      queue[place].report = known
    } else {
      add(Waiting(kind: kind, report: report, facts: facts))
    }
  }

  /// Hands over a report on the whole run, which has all zombies that wait.
  func add(_ kind: Kind, whole report: LeakReport) {
    queue.removeAll { $0.kind == .zombie }
    add(Waiting(kind: kind, report: report, facts: [:]))
  }

  /// Hands over what grew, as the JSON of `undead watch`.
  func add(growth text: String, facts: [String: String]) { add(Waiting(kind: .growth, text: text, facts: facts)) }

  private func add(_ finding: Waiting) {
    queue.append(finding)
    if queue.count > limits.waiting {
      queue.removeFirst()
      if !hasDropped {
        Message.say("--on-finding: more findings than the command may be run for; the oldest are left out")
      }
      hasDropped = true
    }
    look()
  }

  // MARK: Running

  /// Sees to the command that runs, and starts the next one if it may run now.
  ///
  /// - Returns: when to look again.
  @discardableResult func look(now: UInt64 = SystemClock.now()) -> UInt64 {
    if let running {
      guard hasEnded(running.pid) else {
        guard now >= running.end else { return min(running.end, now + Self.pause) }
        stop(running.pid)
        return look(now: now)
      }
      self.running = nil
    }
    guard !queue.isEmpty else { return .max }
    starts.removeAll { now >= $0 + Self.hour }
    if starts.count >= limits.perHour { return starts[0] + Self.hour }
    start(queue.removeFirst(), now)
    return now + Self.pause
  }

  /// At the end of the tool's work: runs the command for what waits, and waits for its end.
  func finish() {
    let end = SystemClock.now() + 2 * limits.time
    look()
    while running != nil {
      usleep(10_000)
      // What is left then would hold up the end of a service.
      if SystemClock.now() >= end { queue = [] }
      look()
    }
    guard !queue.isEmpty else { return }
    let rest = Quantity.of(queue.count, "finding")
    Message.say("--on-finding: the command has run \(limits.perHour) times in an hour; it was not run for \(rest)")
    queue = []
  }

  private static let hour: UInt64 = 3_600_000_000_000
  private static let pause: UInt64 = 100_000_000

  private func hasEnded(_ pid: pid_t) -> Bool {
    var status: Int32 = 0
    let ended = waitpid(pid, &status, WNOHANG)
    if ended == pid, status != 0 {
      fail(status & 0x7F == 0 ? "ended with \(status >> 8 & 0xFF)" : "was ended by signal \(status & 0x7F)")
    }
    return ended == pid || (ended < 0 && errno != EINTR)
  }

  private func stop(_ pid: pid_t) {
    // It leads a group of its own.
    kill(-pid, SIGKILL)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    fail("ran for more than \(Quantity.duration(Double(limits.time) / 1e9)) and was ended")
  }

  private func start(_ finding: Waiting, _ now: UInt64) {
    starts.append(now)
    do throws(ToolError) {
      running = (try spawn(finding), now + limits.time)
    } catch {
      fail("was not run: \(error.message)")
    }
  }

  private func spawn(_ finding: Waiting) throws(ToolError) -> pid_t {
    guard let input = Self.temporaryFile(holding: try Self.text(finding)) else {
      throw .failure("there is no room for a report in TMPDIR, /tmp and /dev/shm")
    }
    defer { close(input) }
    var shell = Spawn("/bin/sh", ["sh", "-c", "--", command])
    // Standard output is the program's.
    shell.files = [STDIN_FILENO: .same(as: input), STDOUT_FILENO: .same(as: STDERR_FILENO)]
    var none = sigset_t()
    sigemptyset(&none)
    shell.signalMask = none
    shell.hasOwnSession = true
    shell.environment = System.environment() + Self.facts(finding)
    do throws(Spawn.Refusal) {
      return try shell.start()
    } catch {
      throw .failure(SystemError.text(error.code))
    }
  }

  /// An unnamed file for standard input, so that a program that does not read all of it cannot block us.
  ///
  /// - Parameter directories: the first one that takes it counts; a container may not let us write to all of them.
  static func temporaryFile(
    holding text: String,
    in directories: [String] = [System.environment("TMPDIR") ?? "/tmp", "/tmp", "/dev/shm"]
  ) -> Int32? {
    for directory in directories {
      var path = Array("\(directory)/undead-input-XXXXXX".utf8CString)
      let descriptor = mkstemp(&path)
      guard descriptor >= 0 else { continue }
      unlink(path)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      if put(text, to: descriptor), lseek(descriptor, 0, SEEK_SET) == 0 { return descriptor }
      close(descriptor)
    }
    return nil
  }

  private static func put(_ text: String, to descriptor: Int32) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count == 0 || errno != EINTR {
        return false
      }
    }
    return true
  }

  private static func text(_ finding: Waiting) throws(ToolError) -> String {
    guard let report = finding.report else { return finding.text }
    do {
      return String(decoding: try JSONRenderer.render(report), as: UTF8.self)
    } catch {
      throw .failure("the report cannot be written as JSON: \(error)")
    }
  }

  private func fail(_ words: String) {
    if !hasFailed { Message.say("the command of --on-finding \(TextLine(words)); this is said once") }
    hasFailed = true
  }

  // MARK: Facts

  private static let longest = 1000

  private static func facts(_ finding: Waiting) -> [[UInt8]] {
    var facts = finding.facts
    facts["KIND"] = finding.kind.rawValue
    if let report = finding.report {
      facts["PID"] = "\(report.process.pid)"
      facts["PROGRAM"] = report.process.path
      facts["COUNT"] = "\(report.zombies.count + report.leaks.count)"
      let zombie = report.zombies.first
      let leak = report.leaks.first
      facts["SIGNATURE"] = zombie?.signature ?? leak?.signature
      facts["TYPE"] = zombie?.type ?? leak?.objects.first?.type
      facts["MESSAGE"] = facts["MESSAGE"] ?? zombie?.description ?? leak?.description
    }
    return facts.sorted { $0.key < $1.key }.map { name, value in
      Array("UNDEAD_FINDING_\(name)=\(VisibleText.line(String(value.prefix(longest))))".utf8)
    }
  }
}
