import Glibc
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
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var numbers: [pid_t] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { atol($0) }
      }
      if name > 0 { numbers.append(pid_t(name)) }
    }
    return numbers.sorted()
  }

  /// The open files of a process.
  package static func files(of pid: pid_t) -> [Int32] {
    // The first number is 0, which `atol` gives for anything else, too.
    [0] + numbers(in: "/proc/\(pid)/fd")
  }

  /// The threads of a process that have not ended.
  package static func liveThreads(of pid: pid_t) -> [pid_t] {
    numbers(in: "/proc/\(pid)/task").filter {
      guard let state = state(of: $0) else { return false }
      return state != "Z" && state != "X"
    }
  }

  package static func linkTarget(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
      let length = readlink(path, buffer.baseAddress!, buffer.count)
      guard length > 0 else { return nil }
      return String(decoding: UnsafeRawBufferPointer(buffer).prefix(length), as: UTF8.self)
    }
  }

  /// Nanoseconds of a clock that only goes forward.
  package static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Nanoseconds since 1970.
  package static func wallClock() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
