import Foundation

/// A control group with a limit of memory, of either version, below that of this process; only root can make one.
final class ControlGroup {
  private let directory: String

  /// nil where none can be made, as in most containers.
  init?(bytes: Int) {
    let lines = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))?.split(separator: "\n") ?? []
    let name = "undead-test-\(getpid())-\(Int.random(in: 0...1 << 40))"
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, parts[1] == "memory" || parts[1].isEmpty else { continue }
      let isFirst = parts[1] == "memory"
      let directory = "/sys/fs/cgroup\(isFirst ? "/memory" : "")\(parts[2])/\(name)"
      let limit = isFirst ? "memory.limit_in_bytes" : "memory.max"
      guard mkdir(directory, 0o755) == 0 else { continue }
      let file = "\(directory)/\(limit)"
      if FileManager.default.fileExists(atPath: file), Self.write("\(bytes)", file) {
        self.directory = directory
        return
      }
      rmdir(directory)
    }
    return nil
  }

  deinit { rmdir(directory) }

  /// What makes a program of a shell's arguments one of the group.
  var command: String { "echo $$ > '\(directory)/cgroup.procs' && exec \"$0\" \"$@\"" }

  private static func write(_ text: String, _ path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    fputs(text, file)
    return fclose(file) == 0
  }
}
