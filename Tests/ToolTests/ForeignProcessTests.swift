import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadTool

/// A process of another user, looked at by root: what it says of its session opens, removes and signals nothing that it could not
/// open, remove and signal itself.
@Suite(.timeLimit(.minutes(20)), .enabled(if: geteuid() == 0, "root's rights are what is attacked"))
struct ForeignProcessTests {
  private let sandbox: Sandbox
  private let nobody: uid_t = 65534

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    try sandbox.compile(Forger.source, to: "forger")
    chmod(sandbox.path("tmp"), 0o755)
  }

  /// A folder of root's with one file, which nobody else can enter.
  private func victim(_ name: String = "file") throws -> String {
    let folder = sandbox.path("victim")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return try sandbox.write("SECRET\n", to: "victim/\(name)", mode: 0o600)
  }

  /// A folder that the other user owns.
  private func session(_ name: String = "session") throws -> String {
    let path = sandbox.path(name)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    chmod(path, 0o755)
    #expect(chown(path, nobody, nobody) == 0)
    return path
  }

  private func forge(
    _ session: String, named number: Int32 = 0, snapshot: String, _ thing: String = "", says: String? = nil
  ) throws -> (child: Sandbox.Child, pid: Int32) {
    let child = try sandbox.start(
      [sandbox.path("forger"), session, "\(number)", snapshot, thing], environment: ["UNDEAD_SESSION": says ?? session])
    #expect(child.wait { child.outputSoFar.hasSuffix("\n") || !child.isRunning })
    return (child, try #require(Int32(child.outputSoFar.dropFirst("ready ".count).dropLast())))
  }

  /// Has root look at a process in every way, and checks that nothing of the victim was shown.
  private func look(at pid: Int32, status: Set<Int32> = [64, 70]) throws {
    for words in [
      ["heap", "\(pid)"], ["leaks", "\(pid)"], ["leaks", "--heap", "kept", "\(pid)"],
      ["watch", "--every", "50ms", "--for", "200ms", "\(pid)"],
    ] {
      let output = try sandbox.undead(list: words)
      #expect(status.contains(output.status), "\(words): \(output.status) \(output.out) \(output.error)")
      #expect(!output.out.contains("SECRET") && !output.error.contains("SECRET"))
    }
  }

  @Test(arguments: [
    ("../victim/file", ""), ("/etc/hostname", ""), ("%d.1.1.undead", "link:VICTIM"), ("%d.1.1.undead", "pipe"),
    ("%d.1.1.undead", "holes"), ("%d.1.1.undead/../../victim/file", ""), ("lock", "link:VICTIM"), ("", ""),
  ])
  func namesLeadNowhere(_ name: String, _ thing: String) throws {
    let file = try victim()
    let session = try session()
    let forged = try forge(session, snapshot: name, thing.replacingOccurrences(of: "VICTIM", with: file))
    try look(at: forged.pid)
    #expect(forged.child.isRunning)
    forged.child.send(SIGKILL)
    _ = forged.child.finish()
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "SECRET\n")
  }

  @Test func aMarkIsAskedForInTheFolderOfTheUser() throws {
    let forged = try forge(try session(), snapshot: "")
    // What is the process's own is used.
    let marked = try sandbox.undead("mark", "\(forged.pid)", "name")
    #expect(marked.status == 0 && marked.out == "generation 7: name\n", "\(marked.error)")
    forged.child.send(SIGKILL)
    _ = forged.child.finish()
  }

  /// Files of root's in places where the other user may put some, too.
  @Test func whatOthersOwnInASharedFolderStays() throws {
    let shared = sandbox.path("shared")
    try FileManager.default.createDirectory(atPath: shared, withIntermediateDirectories: false)
    chmod(shared, 0o1777)
    let forged = try forge(shared, snapshot: "%d.1.1.undead")
    let file = try sandbox.write("SECRET\n", to: "shared/\(forged.pid).1.1.undead", mode: 0o600)
    try look(at: forged.pid)
    forged.child.send(SIGKILL)
    _ = forged.child.finish()
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "SECRET\n")
  }

  /// A folder that is the other user's, but that it cannot reach.
  @Test func aFolderBehindALockedOneIsNotEntered() throws {
    _ = try victim()
    let forged = try forge(try session(), snapshot: "%d.1.1.undead")
    forged.child.send(SIGKILL)
    _ = forged.child.finish()
    let hidden = try session("victim/hidden")
    let again = try forge(try session("other"), snapshot: "", says: hidden)
    let names = ["\(again.pid).state", "\(again.pid).1.1.undead"]
    for name in names {
      try FileManager.default.copyItem(
        atPath: sandbox.path("other/\(again.pid).state"), toPath: "\(hidden)/\(name)")
      #expect(chown("\(hidden)/\(name)", nobody, nobody) == 0)
    }
    try look(at: again.pid)
    again.child.send(SIGKILL)
    _ = again.child.finish()
    #expect(try FileManager.default.contentsOfDirectory(atPath: hidden).sorted() == names.sorted())
  }

  /// A state file of another user's for a process of root's: in a session of root's, it is the program that is counted and ended.
  @Test func aForgedStateSpeaksForNobody() throws {
    let victim = try sandbox.start([
      "sh", "-c", "trap 'echo hit; exit' TERM; echo started; while :; do sleep 0.05; done",
    ])
    #expect(victim.wait { victim.outputSoFar.hasSuffix("\n") })
    let forger = "'\(sandbox.path("forger"))' \"$UNDEAD_SESSION\" \(victim.pid) '%d.1.1.undead' ''"
    // No process of the session but the forged one says that it is a Swift program.
    let output = try sandbox.undead(
      list: [
        "watch", "--every", "50ms", "--for", "400ms", "--", "sh", "-c",
        "trap 'kill $forger; exit' TERM; \(forger) & forger=$!; wait",
      ], environment: ["FAKE_NO_SWIFT": "1"])
    #expect(output.status == 70 && output.out.hasPrefix("ready "), "\(output.out) \(output.error)")
    #expect(victim.isRunning && victim.outputSoFar == "started\n")
    victim.send(SIGKILL)
    _ = victim.finish()
  }

  @Test func aProcessThatTheProgramDidNotStartIsNotCounted() throws {
    var state = try #require(ProcessState(Self.state(pid: 77)))
    #expect(try StartedProgram.wanted([state], program: 1) { _ in false } == 1)
    #expect(try StartedProgram.wanted([state], program: 1) { _ in true } == 77)
    state.pid = 78
    #expect(throws: ToolError.self) {
      try StartedProgram.wanted([state, ProcessState(Self.state(pid: 77))!], program: 1) { _ in true }
    }
  }

  private static func state(pid: UInt32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: ProcessState.size)
    bytes.replaceSubrange(0..<8, with: Array("UNDEADST".utf8))
    for (offset, value) in [(8, 1), (12, pid), (24, 2), (28, 1)] as [(Int, UInt32)] {
      withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + 4, with: $0) }
    }
    return bytes
  }

  /// The session goes while a process of it, which gave up root, exchanges what is in it.
  @Test func removingFollowsNothing() throws {
    try sandbox.compile(Forger.exchanger, to: "exchanger")
    let folder = sandbox.path("precious")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let names = (0..<500).map { "file\($0)" }
    for name in names { try sandbox.write("x", to: "precious/\(name)") }
    for _ in 0..<4 {
      // Nothing of it can be checked.
      let output = try sandbox.undead("run", "--", "./exchanger", folder)
      #expect(output.status == 70 && output.error.contains("no check was made"), "\(output.status) \(output.error)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == names.count)
    }
  }

  /// A folder that somebody else could exchange is no place for what root writes.
  @Test func sessionsOfRootLieOutOfReach() throws {
    let place = try session("theirs")
    let output = try sandbox.command(
      [sandbox.path("bin/undead"), "run", "--verbose", "--", "true"], environment: ["TMPDIR": place])
    #expect(output.error.contains("session /"), "\(output.error)")
    #expect(!output.error.contains("session \(place)"), "\(output.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty)
  }
}
