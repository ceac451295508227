import UndeadSystem

/// What `/proc` shows about a process.
enum ProcessFacts {
  /// A variable of the environment that the process was started with; nil if it cannot be read or is not there.
  static func environment(_ name: String, of pid: pid_t) -> String? {
    guard let bytes = WholeFile.read("/proc/\(pid)/environ") else { return nil }
    let start = Array("\(name)=".utf8)
    return bytes.split(separator: 0).first { $0.starts(with: start) }
      .map { String(decoding: $0.dropFirst(start.count), as: UTF8.self) }
  }

  static func isRunning(_ pid: pid_t) -> Bool {
    guard let state = statusField("State", file: "/proc/\(pid)/status") else { return false }
    return !state.hasPrefix("Z") && !state.hasPrefix("X")
  }

  /// The process that started it, or took it over; nil if it does not exist.
  static func parent(of pid: pid_t) -> pid_t? { statusField("PPid", file: "/proc/\(pid)/status").flatMap { pid_t($0) } }

  /// True if a process is one that `ancestor` started, directly or not.
  static func isDescendant(_ pid: pid_t, of ancestor: pid_t) -> Bool {
    var process = pid
    for _ in 0..<1000 {
      guard let parent = parent(of: process), parent > 0 else { return false }
      if parent == ancestor { return true }
      process = parent
    }
    return false
  }

  /// True if the process has a handler of its own for `signal`.
  static func handles(_ signal: Int32, pid: pid_t) -> Bool {
    contains(statusField("SigCgt", file: "/proc/\(pid)/status"), signal)
  }

  /// True if no thread of the process takes `signal`.
  static func masks(_ signal: Int32, pid: pid_t) -> Bool {
    Folder.names(in: "/proc/\(pid)/task").allSatisfy { thread in
      contains(statusField("SigBlk", file: "/proc/\(pid)/task/\(thread)/status"), signal)
    }
  }

  /// True if `signal` was sent to the process, and waits.
  static func isPending(_ signal: Int32, pid: pid_t) -> Bool {
    contains(statusField("ShdPnd", file: "/proc/\(pid)/status"), signal)
  }

  /// How many filters of system calls (seccomp) the tool itself is under; nil without any.
  static func systemCallFilters() -> Int? {
    let file = "/proc/thread-self/status"
    guard let mode = statusField("Seccomp", file: file), mode != "0" else { return nil }
    // Kernels before 5.9 do not count them.
    return statusField("Seccomp_filters", file: file).flatMap { Int($0) } ?? 1
  }

  private static func contains(_ set: String?, _ signal: Int32) -> Bool {
    guard let set, let bits = UInt64(set, radix: 16), (1...64).contains(signal) else { return false }
    return bits >> UInt64(signal - 1) & 1 != 0
  }

  private static func statusField(_ name: String, file: String) -> String? {
    guard let bytes = WholeFile.read(file) else { return nil }
    let start = Array("\(name):".utf8)
    let line = bytes.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: start) }
    let value = line?.dropFirst(start.count).drop { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
    return value.map { String(decoding: $0, as: UTF8.self) }
  }
}
