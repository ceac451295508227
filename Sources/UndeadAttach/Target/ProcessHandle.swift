import CUndeadTrace
import Glibc

/// One process: its number may be another one's when it has ended, but this never is.
///
/// Every signal to a process that the tool did not start itself goes through it.
package final class ProcessHandle: Sendable {
  package let pid: pid_t
  /// Negative where the kernel has none (before 5.3).
  private let descriptor: Int32
  private let started: UInt64

  /// nil if there is no such process.
  package init?(of pid: pid_t) {
    guard pid > 0 else { return nil }
    self.pid = pid
    descriptor = undead_trace_process(pid)
    started = ProcFile.startTicks(pid)
    if started == 0 {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  package var isRunning: Bool {
    if descriptor >= 0 {
      // Readable from its end on. Start times do not distinguish two processes of one hundredth of a second.
      var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let result = poll(&ended, 1, 0)
      if result >= 0 { return result == 0 }
    }
    guard ProcFile.startTicks(pid) == started, let state = ProcFile.state(of: pid) else { return false }
    return state != "Z" && state != "X"
  }

  /// Sends a signal; returns the error number if that failed, `ESRCH` if the process has ended.
  @discardableResult package func send(_ signal: Int32) -> Int32? {
    if descriptor >= 0 {
      let result = undead_trace_signal(descriptor, signal)
      return result == 0 ? nil : -result
    }
    guard isRunning else { return ESRCH }
    return kill(pid, signal) == 0 ? nil : errno
  }

  /// Whether a file of the process is a pipe or a local socket that may be looked into.
  package func keepsUnread(_ file: Int32) -> Bool { descriptor >= 0 && undead_trace_keeps_unread(descriptor, file) }

  /// Copies what waits to be read in such a file; `more`: there may be others. Kernels before 5.6, and some containers, let nobody
  /// look: then it counts as empty.
  package func unread(_ file: Int32, into bytes: UnsafeMutableRawBufferPointer) -> (count: Int, more: Bool) {
    var more = false
    let count = undead_trace_unread(descriptor, file, bytes.baseAddress, bytes.count, &more)
    return (count, more)
  }
}
