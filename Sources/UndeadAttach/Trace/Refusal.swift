import UndeadSystem

extension AttachError {
  /// Why the system does not let us trace a thread.
  static func refused(_ code: Int32, pid: pid_t, tid: pid_t) -> AttachError {
    if let tracer = ProcFile.status("TracerPid", of: tid), tracer != "0" { return traced(pid, by: tracer) }
    guard code == EPERM || code == EACCES else {
      return .failure("process \(pid) cannot be stopped: \(SystemError.text(code))")
    }
    return .misuse(Refusal(pid: pid).message)
  }

  static func traced(_ pid: pid_t, by tracer: String) -> AttachError {
    let words = pid_t(tracer).flatMap { WholeFile.read("/proc/\($0)/cmdline") } ?? []
    // Without words it just ends.
    if words.isEmpty || words.starts(with: Guardian.word.utf8) {
      return .again("process \(pid) is just being let go by process \(tracer), which traced it; try again")
    }
    let name = pid_t(tracer).flatMap { ProcFile.text("/proc/\($0)/comm") }?.filter { $0 != "\n" }
    // It stops the process for a moment only.
    if name == "undead" {
      return .again("process \(pid) is being looked at by another undead, process \(tracer); try again")
    }
    return .misuse(
      "process \(pid) is traced already, by process \(tracer)\(name.map { " ('\($0)')" } ?? ""): end that debugger or strace "
        + "first")
  }
}

/// Why a process may not be looked at, and what would allow it.
struct Refusal {
  var pid: pid_t
  /// Whose the process is; nil if that is not known.
  var owner: String?
  /// This process's own user, and its capabilities in effect, as in `/proc/self/status`.
  var user = "\(geteuid())"
  var capabilities: UInt64 = 0
  /// `kernel.yama.ptrace_scope`; "0" where there is no Yama.
  var scope: Character = "0"

  init(pid: pid_t) {
    self.pid = pid
    owner = ProcFile.status("Uid", of: pid)?.split(separator: "\t").first.map(String.init)
    capabilities = ProcFile.status("CapEff", of: getpid()).flatMap { UInt64($0, radix: 16) } ?? 0
    scope = ProcFile.text("/proc/sys/kernel/yama/ptrace_scope")?.first ?? "0"
  }

  // Of <linux/capability.h>.
  static let traceCapability: UInt64 = 1 << 19
  /// Either opens files of others: CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH.
  static let fileCapabilities: UInt64 = 1 << 1 | 1 << 2

  var message: String {
    // Tracing is allowed then, and what is refused is its memory in /proc, which is its owner's.
    if capabilities & Self.traceCapability != 0, capabilities & Self.fileCapabilities == 0, owner != user {
      return "process \(pid) may not be looked at (/proc/\(pid)/mem is refused): it belongs to user \(owner ?? "?"), "
        + "and undead has the capability SYS_PTRACE, but not DAC_READ_SEARCH, which it needs for processes of other users "
        + "(docker run --cap-add=DAC_READ_SEARCH; Kubernetes: securityContext.capabilities.add: [SYS_PTRACE, "
        + "DAC_READ_SEARCH])"
    }
    return "process \(pid) may not be looked at (ptrace is refused): \(ways.joined(separator: "; "))"
  }

  private var ways: [String] {
    var ways: [String] = []
    if owner != user {
      ways.append(
        "it belongs to user \(owner ?? "?"): run undead as that user" + (user == "0" ? "" : ", or as root"))
    }
    if scope == "3" {
      ways.append("kernel.yama.ptrace_scope is 3, which forbids it to everybody until the machine starts anew")
    } else if scope != "0" {
      ways.append("kernel.yama.ptrace_scope is \(scope): run undead as root, or 'sysctl kernel.yama.ptrace_scope=0'")
    }
    ways.append(
      "in a container undead needs the capability SYS_PTRACE (docker run --cap-add=SYS_PTRACE; Kubernetes: "
        + "securityContext.capabilities.add: [SYS_PTRACE])")
    return ways
  }
}
