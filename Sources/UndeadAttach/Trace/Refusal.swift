import Glibc

extension AttachError {
  /// Why the system does not let us trace a thread.
  static func refused(_ code: Int32, pid: pid_t, tid: pid_t) -> AttachError {
    if let tracer = ProcFile.status("TracerPid", of: tid), tracer != "0" { return traced(pid, by: tracer) }
    guard code == EPERM || code == EACCES else {
      return .failure("process \(pid) cannot be stopped: \(reason(code))")
    }
    var ways: [String] = []
    let owner = ProcFile.status("Uid", of: pid)?.split(separator: "\t").first.map(String.init) ?? "?"
    if owner != "\(geteuid())" {
      ways.append("it belongs to user \(owner): run undead as that user, or as root")
    }
    if let yama = ProcFile.text("/proc/sys/kernel/yama/ptrace_scope")?.first, yama != "0" {
      ways.append(
        yama == "3"
          ? "kernel.yama.ptrace_scope is 3, which forbids it to everybody until the machine starts anew"
          : "kernel.yama.ptrace_scope is \(yama): run undead as root, or 'sysctl kernel.yama.ptrace_scope=0'")
    }
    ways.append(
      "in a container undead needs the capability SYS_PTRACE (docker run --cap-add=SYS_PTRACE; Kubernetes: "
        + "securityContext.capabilities.add: [SYS_PTRACE])")
    return .misuse("process \(pid) may not be looked at (ptrace is refused): \(ways.joined(separator: "; "))")
  }

  static func traced(_ pid: pid_t, by tracer: String) -> AttachError {
    let words = pid_t(tracer).flatMap { ProcFile.read("/proc/\($0)/cmdline") } ?? []
    // Without words it just ends.
    if words.isEmpty || words.starts(with: Guardian.word.utf8) {
      return .again("process \(pid) is just being let go by process \(tracer), which traced it; try again")
    }
    let name =
      pid_t(tracer).flatMap { ProcFile.text("/proc/\($0)/comm") }
      .map { " ('\($0.filter { $0 != "\n" })')" } ?? ""
    return .misuse(
      "process \(pid) is traced already, by process \(tracer)\(name): a debugger, strace, or another undead; end that first"
    )
  }
}
