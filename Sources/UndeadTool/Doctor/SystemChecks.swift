import UndeadAttach
import UndeadSystem

/// What the kernel and the C library allow.
struct SystemChecks {
  /// The content of a file; tests bring their own.
  var read: (String) -> String? = { ProcFile.text($0) }

  func all() -> [Diagnosis] {
    let probe = Probe.run()
    return [
      processor(), glibc(version: Self.glibcVersion), tracing(probe), attaching(probe), hiding(), cores(), memory(),
    ]
  }

  // MARK: Machine

  /// The tool is built for no other.
  func processor() -> Diagnosis { .ok("processor", "x86-64") }

  /// Such as "2.36"; nil if it is another C library.
  static var glibcVersion: String? {
    let size = confstr(Int32(_CS_GNU_LIBC_VERSION), nil, 0)
    guard size > 0 else { return nil }
    var text = [CChar](repeating: 0, count: size)
    confstr(Int32(_CS_GNU_LIBC_VERSION), &text, size)
    let words = String(decoding: text.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self).split(separator: " ")
    return words.count == 2 ? String(words[1]) : nil
  }

  /// Those whose blocks are known (`glibc/layout.h`).
  static let knownGlibc = 34...43
  /// The oldest one that has what the preloaded library needs (`platform/images/c_library.h`).
  static let oldestGlibc = 26

  func glibc(version: String?) -> Diagnosis {
    guard let version, version.hasPrefix("2."), let minor = Int(version.dropFirst(2).prefix { $0.isNumber }) else {
      return .fail("glibc", "the C library is not glibc 2", "nothing is recorded here: run the program on glibc")
    }
    if minor < Self.oldestGlibc {
      return .fail(
        "glibc", "\(version): nothing older than 2.\(Self.oldestGlibc) is supported",
        "run the program on a newer system")
    }
    if minor < Self.knownGlibc.lowerBound {
      return .warn(
        "glibc",
        "\(version): processes that are not recorded, and core files, need 2.\(Self.knownGlibc.lowerBound) or newer",
        "use 'undead run', which works here")
    }
    if minor > Self.knownGlibc.upperBound {
      return .warn(
        "glibc", "\(version) is newer than those that were tested (up to 2.\(Self.knownGlibc.upperBound))",
        "'undead run' does not depend on it; if 'undead leaks PID' finds no blocks, report that")
    }
    return .ok("glibc", "\(version), whose tables are known")
  }

  // MARK: ptrace

  /// What the system says to requests about a child of the tool's own; 0 is yes, else the error number.
  struct Probe: Equatable {
    var trace: Int32 = 0
    var memory: Int32 = 0
    var isRefused: Bool { trace != 0 || memory != 0 }

    static func run() -> Probe {
      let pid: pid_t
      do throws(Spawn.Refusal) {
        pid = try Patient.startWaiting()
      } catch {
        return Probe(trace: error.code, memory: error.code)
      }
      defer {
        var status: Int32 = 0
        kill(pid, SIGKILL)
        _ = waitpid(pid, &status, Int32(bitPattern: 0x4000_0000))  // __WALL
      }
      var probe = Probe(trace: 0, memory: 0)
      do throws(PtraceError) {
        try Ptrace.request(Ptrace.seize, pid)
      } catch {
        probe.trace = error.code
      }
      probe.memory = Ptrace.refusalToRead(pid, MemoryMap(process: pid)?.regions.first?.start ?? 0)
      return probe
    }
  }

  func tracing(_ probe: Probe) -> Diagnosis {
    guard !probe.isRefused else {
      let what = probe.trace != 0 ? ("ptrace", probe.trace) : ("process_vm_readv", probe.memory)
      let filters = status("Seccomp").map { $0 != "0" } ?? false
      return .warn(
        "ptrace",
        "\(what.0) of an own child is refused (\(SystemError.text(what.1)))"
          + (filters ? "; this process is under a filter of system calls (seccomp)" : "")
          + ": threads are stopped by signals",
        filters
          ? "allow ptrace and process_vm_readv in the seccomp profile, or add the capability SYS_PTRACE "
            + "(docker run --cap-add SYS_PTRACE)" : "see Documentation/production.md")
    }
    return .ok("ptrace", "ptrace and process_vm_readv of own children work")
  }

  // Of <linux/capability.h>: CAP_SYS_PTRACE; CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, either of which opens files of others.
  private static let traceCapability: UInt64 = 1 << 19
  private static let fileCapabilities: UInt64 = 1 << 1 | 1 << 2

  /// Whether processes can be looked at that the tool did not start.
  func attaching(_ probe: Probe = Probe()) -> Diagnosis {
    guard !probe.isRefused else {
      return .warn(
        "attach", "no process can be looked at that was not started under the tool: not even own children, see above",
        "allow ptrace, or start the program with 'undead run'")
    }
    let capabilities = status("CapEff").flatMap { UInt64($0, radix: 16) } ?? 0
    let scope = read("/proc/sys/kernel/yama/ptrace_scope")?.first { $0.isNumber } ?? "0"
    if capabilities & Self.traceCapability != 0, scope != "3" {
      guard capabilities & Self.fileCapabilities != 0 else {
        return .warn(
          "attach", "processes of this user can be looked at (capability SYS_PTRACE), those of other users cannot",
          "for those of other users add the capability DAC_READ_SEARCH: their files in /proc are their owner's")
      }
      return .ok("attach", "any process can be looked at (capability SYS_PTRACE)")
    }
    switch scope {
    case "0": return .ok("attach", "processes of this user can be looked at (kernel.yama.ptrace_scope is 0)")
    case "3":
      return .warn(
        "attach",
        "kernel.yama.ptrace_scope is 3: 'undead leaks PID' and 'undead record' are forbidden until the machine starts anew",
        "start the program with 'undead run'")
    default:
      return .warn(
        "attach",
        "kernel.yama.ptrace_scope is \(scope): 'undead leaks PID' of a process that is not recorded works only as root",
        "run 'undead leaks PID' as root or with the capability SYS_PTRACE, or: sysctl kernel.yama.ptrace_scope=0")
    }
  }

  // MARK: /proc

  func hiding() -> Diagnosis {
    let mount = read("/proc/self/mountinfo")?.split(separator: "\n").last { line in
      let words = line.split(separator: " ")
      return words.count > 5 && words[4] == "/proc" && line.contains(" - proc ")
    }
    guard let mount else {
      return .fail("proc", "there is no /proc", "mount it: the recorder reads its own maps there")
    }
    let hides = ["hidepid=1", "hidepid=2", "hidepid=noaccess", "hidepid=invisible", "hidepid=4", "hidepid=ptraceable"]
    if hides.contains(where: mount.contains) {
      return .warn(
        "proc", "/proc hides processes of other users (hidepid)",
        "'undead leaks' of another user's process needs root")
    }
    return .ok("proc", "/proc is readable")
  }

  func cores() -> Diagnosis {
    let pattern = read("/proc/sys/kernel/core_pattern")?.split(separator: "\n").first.map(String.init) ?? ""
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    return cores(pattern: pattern, limit: limit.rlim_cur)
  }

  func cores(pattern: String, limit: rlim_t) -> Diagnosis {
    if pattern.hasPrefix("|") {
      let service = pattern.dropFirst().split(separator: " ").first ?? ""
      return .ok(
        "core files",
        "they go to '\(service)'" + (service.contains("systemd-coredump") ? ": coredumpctl dump PID --output core" : "")
      )
    }
    if limit == 0 {
      return .warn(
        "core files", "none are written: their size is limited to 0",
        "for core files of crashes: ulimit -c unlimited")
    }
    return .ok("core files", "they are written to '\(pattern.isEmpty ? "core" : pattern)'")
  }

  // MARK: Memory

  func memory() -> Diagnosis {
    guard let use = MemoryGauge(pid: getpid()).use() else {
      return .warn("memory", "how much there is could not be found", "--snapshot-at needs /proc and the memory cgroup")
    }
    return Self.memory(use)
  }

  static func memory(_ use: MemoryUse) -> Diagnosis {
    func text(_ bytes: UInt64) -> String { "\(bytes >> 20) MiB" }
    let place = use.place.hasPrefix("/") ? "of the cgroup \(use.place)" : "of \(use.place)"
    if use.room < 256 << 20 {
      return .warn(
        "memory", "only \(text(use.room)) of \(text(use.limit)) \(place) are left",
        "a check needs about as much again as the records of the program: raise the limit, or use --stacks none")
    }
    return .ok("memory", "\(text(use.room)) of \(text(use.limit)) \(place) are left")
  }

  private func status(_ name: String) -> String? {
    read("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      .map { $0.dropFirst(name.count + 1).filter { !$0.isWhitespace } }
  }
}
