import UndeadSystem

/// A process of the tool's own that takes away what the tool leaves if it is killed: the end of a copy of which the program
/// has not taken note.
///
/// It waits for the end of a connection. Any program that makes copies must call ``serve(_:)`` first of all.
package final class Guardian {
  private var connection: Int32 = -1
  private(set) var process: pid_t = 0
  /// Its first argument, in place of a path.
  static let word = "undead-guardian"
  private static let done: UInt8 = 0x78

  init(of pid: pid_t) {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return }
    defer { close(ends[0]) }
    connection = ends[1]
    let now = Leftovers.Facts(getpid()).map { "\($0.start)" } ?? "0"
    var guardian = Spawn("/proc/self/exe", [Self.word, "\(pid)", now])
    guardian.files = [STDIN_FILENO: .same(as: ends[0]), STDOUT_FILENO: .null, STDERR_FILENO: .null]
    guardian.hasOwnSession = true
    process = (try? guardian.start()) ?? 0
  }

  deinit { dismiss() }

  /// Nothing is left to be done.
  func dismiss() {
    guard connection >= 0 else { return }
    var word = Self.done
    // Not by a pipe: to write to one whose reader somebody has killed would end the tool.
    if process > 0 { _ = send(connection, &word, 1, Int32(MSG_NOSIGNAL)) }
    close(connection)
    connection = -1
    var status: Int32 = 0
    if process > 0 { waitpid(process, &status, 0) }
  }

  /// What is left is to be taken away without the tool, which need not wait for that.
  func takeOver() {
    guard connection >= 0 else { return }
    close(connection)
    connection = -1
  }

  /// Does the guardian's work and ends, if this process was started for it.
  package static func serve(_ arguments: [String]) {
    guard arguments.count == 3, arguments[0] == word, let pid = pid_t(arguments[1]), let start = UInt64(arguments[2])
    else { return }
    var byte: UInt8 = 0
    var count = 0
    repeat { count = read(STDIN_FILENO, &byte, 1) } while count < 0 && errno == EINTR
    if count == 1 { exit(0) }
    takeAway(pid, start)
    exit(0)
  }

  private static func takeAway(_ pid: pid_t, _ start: UInt64) {
    // The tool's files are closed before its copy is ended; and another tool may be at work.
    let shortest = SystemClock.now() + 300_000_000
    let longest = SystemClock.now() + 30_000_000_000
    while SystemClock.now() < longest {
      let copies = Leftovers.of(pid, since: start)
      if copies.isEmpty, SystemClock.now() > shortest { return }
      if copies.contains(where: \.hasEnded), let program = try? TargetProgram(pid: pid) {
        var paused: UInt64 = 0
        for copy in copies where copy.hasEnded { _ = Reaper(program).reap(copy.number, &paused) }
      }
      usleep(20_000)
    }
  }
}
