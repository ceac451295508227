import Foundation
import Testing
import UndeadReport

@testable import UndeadTool

/// `undead doctor`: what it says of systems that refuse things, and of programs.
@Suite(.timeLimit(.minutes(20))) struct DoctorTests {
  private func system(_ files: [String: String] = [:]) -> SystemChecks {
    var checks = SystemChecks()
    checks.read = { files[$0] }
    return checks
  }

  // MARK: The system

  @Test(arguments: [
    ("2.36", Diagnosis.State.ok), ("2.34", .ok), ("2.43", .ok), ("2.33", .warn), ("2.44.9000", .warn),
    ("2.26", .warn), ("2.25", .fail), ("3.0", .fail),
  ])
  func versionsOfGlibc(_ version: String, _ state: Diagnosis.State) {
    #expect(system().glibc(version: version).state == state)
  }

  @Test func theVersionOfThisGlibcIsFound() throws {
    let version = try #require(SystemChecks.glibcVersion)
    #expect(version.hasPrefix("2."))
    #expect(system().glibc(version: nil).state == .fail)
  }

  @Test func refusedRequests() {
    #expect(system().tracing(.init(trace: 0, memory: 0)).state == .ok)
    let trace = system().tracing(.init(trace: EPERM, memory: EPERM))
    #expect(trace.state == .warn && trace.text.hasPrefix("ptrace of an own child is refused"))
    #expect(system().tracing(.init(trace: 0, memory: ENOSYS)).text.hasPrefix("process_vm_readv of an own child"))
    let filtered = system(["/proc/self/status": "Seccomp:\t2\n"]).tracing(.init(trace: EPERM, memory: 0))
    #expect(filtered.text.contains("seccomp") && filtered.advice?.contains("seccomp profile") ?? false)
  }

  @Test(arguments: [
    ("0000000000000000", "0", Diagnosis.State.ok, "ptrace_scope is 0"),
    ("0000000000000000", "1\n", .warn, "only as root"), ("0000000000080004", "1\n", .ok, "any process"),
    ("0000000000080002", "0\n", .ok, "any process"), ("0000000000080000", "1\n", .warn, "those of other users cannot"),
    ("000001ffffffffff", "3\n", .warn, "forbidden"),
  ])
  func otherProcesses(_ capabilities: String, _ scope: String, _ state: Diagnosis.State, _ words: String) {
    var files = ["/proc/self/status": "CapEff:\t\(capabilities)\n"]
    files["/proc/sys/kernel/yama/ptrace_scope"] = scope
    let finding = system(files).attaching()
    #expect(finding.state == state && finding.text.contains(words), "\(finding)")
    // A kernel without Yama.
    #expect(system().attaching().state == .ok)
    // Where a filter refuses it, capabilities do not help.
    #expect(system(files).attaching(.init(trace: EPERM)).state == .warn)
    #expect(system(files).attaching(.init(memory: EPERM)).state == .warn)
  }

  @Test(arguments: [
    ("22 1 0:21 / /proc rw,relatime - proc proc rw", Diagnosis.State.ok),
    ("22 1 0:21 / /proc rw,relatime - proc proc rw,hidepid=2", .warn),
    ("22 1 0:21 / /proc rw,relatime - proc proc rw,hidepid=invisible", .warn),
    ("22 1 0:21 / /sys rw,relatime - sysfs sysfs rw", .fail),
  ])
  func mountsOfProc(_ line: String, _ state: Diagnosis.State) {
    #expect(system(["/proc/self/mountinfo": line + "\n"]).hiding().state == state)
  }

  @Test func coreFiles() {
    #expect(system().cores(pattern: "core", limit: 0).state == .warn)
    #expect(system().cores(pattern: "/tmp/core.%p", limit: .max).text.contains("/tmp/core.%p"))
    #expect(
      system().cores(pattern: "|/usr/lib/systemd/systemd-coredump %P", limit: 0).text.contains("coredumpctl dump"))
  }

  @Test func memory() {
    let short = MemoryUse(used: 900 << 20, limit: 1 << 30, place: "/sys/fs/cgroup")
    #expect(SystemChecks.memory(short).state == .warn)
    #expect(SystemChecks.memory(short).text.contains("124 MiB of 1024 MiB of the cgroup"))
    #expect(SystemChecks.memory(MemoryUse(used: 1, limit: 8 << 30, place: "this machine")).state == .ok)
  }

  // MARK: The tool

  @Test func aLeakOfItsOwnIsFound() throws {
    let sandbox = try Sandbox()
    try sandbox.installRealLibrary()
    let output = try sandbox.undead("doctor", "--format", "json")
    #expect(output.status == 0, "\(output.out)\(output.error)")
    let answer = try #require(try JSONSerialization.jsonObject(with: Data(output.out.utf8)) as? [String: Any])
    let checks = try #require(answer["checks"] as? [[String: Any]])
    var states: [String: String] = [:]
    for check in checks { states[check["check"] as? String ?? ""] = check["state"] as? String }
    for name in ["processor", "glibc", "library", "check", "runtime", "names"] {
      #expect(states[name] == "ok", "\(name)")
    }
    let turnedOff = try sandbox.undead("doctor", environment: ["UNDEAD": "0"])
    #expect(turnedOff.status == 1 && turnedOff.out.contains("unset UNDEAD"))
  }

  @Test func aLibraryThatFindsNothingFails() throws {
    let sandbox = try Sandbox()
    let none = try sandbox.undead("doctor", "-q")
    #expect(none.status == 1)
    #expect(none.out.contains("fail  library"), "\(none.out)")
    try sandbox.installFakeLibrary()
    let clean = ["FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.clean(), to: "clean.undead")]
    let blind = try sandbox.undead("doctor", environment: clean)
    #expect(blind.status == 1)
    #expect(blind.out.contains("fail  check") && blind.out.contains("was not found"), "\(blind.out)")
    let broken = try sandbox.undead("doctor", environment: ["FAKE_FAILURE": "no threads"])
    #expect(broken.status == 1 && broken.out.contains("no threads"), "\(broken.out)")
  }

  /// There the arguments are unknown, too: an empty command line would be answered with help and status 0.
  @Test(.enabled(if: geteuid() == 0)) func withoutProcItIsSaid() throws {
    let sandbox = try Sandbox()
    let output = try sandbox.command(
      ["/usr/bin/unshare", "-m", "/bin/sh", "-c", "umount -l /proc && exec \"$0\" doctor", sandbox.path("bin/undead")])
    #expect(output.status == 70 && output.error.contains("there is no /proc"), "\(output)")
    #expect(output.out.isEmpty)
  }

  @Test func versionsMustAgree() {
    let library = PreloadLibrary(path: "/lib/libUndeadPreload.so")
    #expect(ToolChecks.version(UndeadCommand.version, library).state == .ok)
    #expect(ToolChecks.version("0.0.9", library).state == .fail)
    #expect(ToolChecks.version(nil, library).state == .fail)
  }

  // MARK: Programs

  private func checks(_ path: String) throws -> [String: Diagnosis] {
    Dictionary(try ProgramChecks.all(of: path).map { ($0.check, $0) }) { first, _ in first }
  }

  @Test func programsOfC() throws {
    let sandbox = try Sandbox()
    let source = "int main(void) { return 0; }"
    try sandbox.compile(source, to: "debug", "-g")
    try sandbox.compile(source, to: "plain")
    try sandbox.compile(source, to: "stripped", "-s")
    try sandbox.compile(source, to: "static", "-static")
    let debug = try checks(sandbox.path("debug"))
    #expect(debug["program"]?.state == .ok && debug["debug information"]?.state == .ok)
    #expect(debug["swift"]?.state == .warn)
    #expect(try checks(sandbox.path("plain"))["debug information"]?.text.hasPrefix("there is none") ?? false)
    #expect(try checks(sandbox.path("stripped"))["debug information"]?.text.contains("stripped") ?? false)
    let isStatic = try checks(sandbox.path("static"))
    #expect(isStatic["program"]?.state == .fail && isStatic["program"]?.text.contains("static") ?? false)
    #expect(try sandbox.undead("doctor", sandbox.path("static")).status == 1)
    #expect(try sandbox.undead("doctor", "/no/such/program").status == 64)
  }

  @Test func programsOfSwift() throws {
    let own = try checks(Sandbox.tool.path)
    #expect(own["program"]?.state == .ok && own["swift"]?.state == .ok)
    #expect(own["debug information"]?.state == .ok)
  }
}
