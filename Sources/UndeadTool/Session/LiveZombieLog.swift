import UndeadAttach
import UndeadReport
import UndeadSystem

/// The log of a living process. What was read last stays when the process ends.
final class LiveZombieLog {
  let pid: pid_t
  let executable: String
  private(set) var last: [UInt8]?

  init(of pid: pid_t) {
    self.pid = pid
    executable = SymbolicLink.target("/proc/\(pid)/exe") ?? ""
  }

  /// Reads it again; nil if the process never had one.
  @discardableResult func read() -> [UInt8]? {
    if let bytes = try? LiveRecording.zombieLog(of: pid) { last = bytes }
    return last
  }
}
