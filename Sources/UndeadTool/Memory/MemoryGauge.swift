import UndeadSystem

/// Finds the limit that ends a process first: of its cgroups (version 2 or 1), else of the machine.
struct MemoryGauge {
  /// A cgroup with a limit, or one that may get it.
  private struct Group {
    var directory: String
    var isUnified: Bool
  }

  private let pid: pid_t
  private let groups: [Group]
  private let meminfo: String

  /// - Parameters:
  ///   - root: where `/proc` and the mounted cgroups are looked for; "" for the system's own, another one for tests.
  init(pid: pid_t, root: String = "") {
    self.pid = pid
    meminfo = "\(root)/proc/meminfo"
    groups = Self.groups(of: pid, root: root)
  }

  /// What the process itself has in memory; 0 if it has ended.
  func resident() -> UInt64 { Self.resident(of: pid) }

  /// What a process itself has in memory; 0 if it has ended.
  static func resident(of pid: pid_t) -> UInt64 { field("VmRSS", in: "/proc/\(pid)/status") ?? 0 }

  /// The fullest of all that limit the process; nil if nothing can be read.
  func use() -> MemoryUse? {
    let limited = groups.compactMap(Self.use(of:)).max { $0.percent < $1.percent }
    return limited ?? machine()
  }

  private func machine() -> MemoryUse? {
    guard let total = Self.field("MemTotal", in: meminfo), let free = Self.field("MemAvailable", in: meminfo) else {
      return nil
    }
    return MemoryUse(used: total > free ? total - free : 0, limit: total, place: "this machine")
  }

  // MARK: Cgroups

  private static func use(of group: Group) -> MemoryUse? {
    let names = group.isUnified ? ["memory.max", "memory.high"] : ["memory.limit_in_bytes"]
    let current = group.isUnified ? "memory.current" : "memory.usage_in_bytes"
    let cached = group.isUnified ? "inactive_file" : "total_inactive_file"
    // Without a limit version 2 says "max", version 1 a number that no machine has.
    let limits = names.compactMap { number("\(group.directory)/\($0)") }.filter { $0 < 1 << 62 && $0 > 0 }
    guard let limit = limits.min(), let all = number("\(group.directory)/\(current)") else { return nil }
    let files = field(cached, in: "\(group.directory)/memory.stat", separator: " ", unit: 1) ?? 0
    let endsAll = number("\(group.directory)/memory.oom.group") == 1
    return MemoryUse(used: all > files ? all - files : 0, limit: limit, place: group.directory, endsAll: endsAll)
  }

  /// The memory cgroups of a process, the innermost first, with those above it.
  private static func groups(of pid: pid_t, root: String) -> [Group] {
    let mounts = lines("\(root)/proc/self/mountinfo").compactMap(Mount.init)
    var groups: [Group] = []
    for line in lines("\(root)/proc/\(pid)/cgroup") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let isUnified = parts[0] == "0" && parts[1].isEmpty
      guard isUnified || parts[1].split(separator: ",").contains("memory") else { continue }
      for mount in mounts where mount.holdsMemory(unified: isUnified) {
        let directories = mount.directories(of: String(parts[2]), root: root)
        groups += directories.map { Group(directory: $0, isUnified: isUnified) }
      }
    }
    return groups
  }

  /// A line of `mountinfo` that mounts cgroups.
  private struct Mount {
    var shown: String
    var point: String
    var type: String
    var options: [Substring]

    init?(_ line: Substring) {
      let words = line.split(separator: " ")
      guard words.count > 6, let dash = words.firstIndex(of: "-"), dash + 3 < words.count else { return nil }
      (shown, point, type) = (String(words[3]), String(words[4]), String(words[dash + 1]))
      options = words[dash + 3].split(separator: ",")
      guard type == "cgroup" || type == "cgroup2" else { return nil }
    }

    func holdsMemory(unified: Bool) -> Bool {
      unified ? type == "cgroup2" : type == "cgroup" && options.contains("memory")
    }

    /// The directories of a cgroup and of those above it, as far as they are to be seen here.
    func directories(of path: String, root: String) -> [String] {
      var rest = path
      // In a container only a part of the tree is mounted, at its own root.
      if shown != "/", rest == shown || rest.hasPrefix("\(shown)/") { rest.removeFirst(shown.count) }
      var found: [String] = []
      while !rest.isEmpty, rest != "/" {
        let directory = "\(root)\(point)\(rest)"
        if System.isDirectory(directory) { found.append(directory) }
        rest = rest.lastIndex(of: "/").map { String(rest[..<$0]) } ?? ""
      }
      return found + ["\(root)\(point)"]
    }
  }

  // MARK: Files

  private static func lines(_ path: String) -> [Substring] {
    guard let bytes = WholeFile.read(path) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }

  private static func number(_ path: String) -> UInt64? {
    WholeFile.read(path).flatMap { UInt64(String(decoding: $0, as: UTF8.self).prefix { $0 != "\n" }) }
  }

  private static func field(
    _ name: String, in path: String, separator: Character = ":", unit: UInt64 = 1024
  ) -> UInt64? {
    guard let line = lines(path).first(where: { $0.hasPrefix("\(name)\(separator)") }) else { return nil }
    return line.dropFirst(name.count + 1).split(whereSeparator: { $0 == " " || $0 == "\t" }).first.flatMap {
      UInt64($0)
    }
    .map { $0.multipliedReportingOverflow(by: unit).partialValue }
  }
}
