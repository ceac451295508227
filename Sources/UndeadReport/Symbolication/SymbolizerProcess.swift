import UndeadSystem

#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// A running `llvm-symbolizer`: it takes a line and writes one, as long as it is asked.
  ///
  ///     this process  ── "FILE" 0xADDRESS ──▶  tool
  ///                   ◀── one line of JSON ──
  ///
  /// ``SymbolizerTool`` has one for all that it asks: to read what a large program has of debug information takes longer than most
  /// answers. One socket is the tool's input and output: a write to it cannot end this process by SIGPIPE, and neither end waits
  /// for the other to read. The tool ends with the value.
  final class SymbolizerProcess {
    private let pid: pid_t
    private let socket: Int32
    /// What came behind the last line that was given back.
    private var rest: [UInt8] = []

    /// Nil if it cannot be started.
    init?(path: String) {
      var ends: [Int32] = [-1, -1]
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
      guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
      defer { close(ends[1]) }
      var tool = Spawn(path, [path, "--output-style=JSON", "--inlines"])
      tool.files = [STDIN_FILENO: .same(as: ends[1]), STDOUT_FILENO: .same(as: ends[1]), STDERR_FILENO: .null]
      // It must not ask servers for debug information, nor be instrumented itself.
      let hidden = ["DEBUGINFOD_URLS", "LD_PRELOAD", "UNDEAD_SESSION", "LLVM_SYMBOLIZER_OPTS"]
      tool.environment = ProcessInfo.processInfo.environment.filter { !hidden.contains($0.key) }
        .map { Array("\($0.key)=\($0.value)".utf8) }
      guard let pid = try? tool.start() else {
        close(ends[0])
        return nil
      }
      (self.pid, socket) = (pid, ends[0])
    }

    deinit {
      close(socket)
      var status: Int32 = 0
      // Of one that somebody else has waited for, the number may be another's.
      guard waitpid(pid, &status, WNOHANG) == 0 else { return }
      // It has nothing to lose, and another child of this process may have the socket.
      kill(pid, SIGKILL)
      while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
    }

    /// Of hostile debug information: a line has some kilobytes.
    private static let longestLine = 16 << 20

    /// False if it wrote more than it was asked for: what comes next would be taken for the answer to something else.
    var isInStep: Bool { rest.isEmpty }

    /// Sends `requests` and waits for so many lines.
    ///
    /// - Parameter patience: seconds after which it counts as hung if it says nothing.
    /// - Returns: the lines, fewer if the tool ended or hung: then it is of no use any more.
    func answers(to requests: String, count: Int, patience: Int) -> (lines: [ArraySlice<UInt8>], hung: Bool) {
      var unsent = Array(requests.utf8)[...]
      var lines: [ArraySlice<UInt8>] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      let most = UInt64(patience) * 1_000_000_000
      var last = SystemClock.now()
      while true {
        takeLines(&lines, count)
        guard lines.count < count, rest.count < Self.longestLine else { return (lines, false) }
        let passed = SystemClock.now() - last
        guard passed < most else { return (lines, true) }
        let events = unsent.isEmpty ? POLLIN : POLLIN | POLLOUT
        var waiting = pollfd(fd: socket, events: Int16(events), revents: 0)
        let ready = poll(&waiting, 1, Int32(clamping: (most - passed) / 1_000_000 + 1))
        guard ready != 0 else { return (lines, true) }
        guard ready > 0 || errno == EINTR else { return (lines, false) }
        if ready > 0, waiting.revents & Int16(POLLOUT) != 0 {
          let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
          let sent = unsent.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, flags) }
          if sent > 0 { last = SystemClock.now() }
          // Of one that has ended, what it wrote is still there.
          unsent = sent >= 0 ? unsent.dropFirst(sent) : [EAGAIN, EINTR].contains(errno) ? unsent : []
        }
        guard ready > 0, waiting.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { continue }
        let read = recv(socket, &chunk, chunk.count, Int32(MSG_DONTWAIT))
        if read > 0 {
          last = SystemClock.now()
          rest.append(contentsOf: chunk[0..<read])
        } else if read == 0 || ![EAGAIN, EINTR].contains(errno) {
          return (lines, false)
        }
      }
    }

    private func takeLines(_ lines: inout [ArraySlice<UInt8>], _ count: Int) {
      var start = 0
      while lines.count < count, let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
        // It ends some answers with an empty line.
        if end > start { lines.append(rest[start..<end]) }
        start = end + 1
      }
      rest.removeFirst(start)
    }
  }
#endif
