import UndeadSystem

/// Files of `/proc`, which have no known size.
package enum ProcFile {
  package static func text(_ path: String) -> String? {
    WholeFile.read(path).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A line `NAME: value` of `/proc/PID/status`.
  package static func status(_ name: String, of tid: pid_t) -> String? {
    guard let text = text("/proc/\(tid)/status") else { return nil }
    for line in text.split(separator: "\n") where line.hasPrefix("\(name):") {
      return line.dropFirst(name.count + 1).drop { $0 == "\t" || $0 == " " }.description
    }
    return nil
  }

  /// The letter of the state of a thread, as in `ps`; nil if there is none.
  package static func state(of tid: pid_t) -> Character? { status("State", of: tid)?.first }

  /// When a process or thread was started, in clock ticks since the machine was; 0 if it is gone.
  package static func startTicks(_ tid: pid_t) -> UInt64 {
    // Field 22, after the name in parentheses.
    guard let stat = text("/proc/\(tid)/stat"), let end = stat.lastIndex(of: ")") else { return 0 }
    let fields = stat[end...].split(separator: " ")
    return fields.count > 20 ? UInt64(fields[20]) ?? 0 : 0
  }

  /// Numbers among the names in a directory, in ascending order.
  package static func numbers(in directory: String) -> [pid_t] {
    Folder.names(in: directory).compactMap { pid_t($0) }.filter { $0 > 0 }.sorted()
  }

  package static func files(of pid: pid_t) -> [Int32] {
    // `numbers` leaves out the first number, which is 0.
    [0] + numbers(in: "/proc/\(pid)/fd")
  }

  package static func liveThreads(of pid: pid_t) -> [pid_t] {
    numbers(in: "/proc/\(pid)/task").filter {
      guard let state = state(of: $0) else { return false }
      return state != "Z" && state != "X"
    }
  }
}
