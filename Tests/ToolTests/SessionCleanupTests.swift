import Foundation
import Testing

@testable import UndeadTool

/// However a run ends, its session directory goes.
@Suite(.timeLimit(.minutes(20))) struct SessionCleanupTests {
  private let sandbox: Sandbox
  private let settings: [String: String]

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    // A report that is longer than a pipe holds.
    let types = (0..<2000).map { "App.Owner\($0)" }
    settings = ["FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.leaking(types), to: "leaking.undead")]
  }

  /// The session directories that are there.
  private var sessions: [String] {
    let base = sandbox.path("tmp/undead-\(getuid())")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    return names.filter { $0.hasPrefix("run-") }.map { "\(base)/\($0)" }
  }

  private func start(_ options: String..., script: String, by shell: String = "exec") throws -> Sandbox.Child {
    let words = [sandbox.path("bin/undead"), "run"] + options + ["--", "bash", "-c", script]
    return try sandbox.start(["bash", "-c", "\(shell) \"$@\"", "bash"] + words, environment: settings)
  }

  @Test(arguments: [
    "exit 0", "exit 3", "kill -KILL $$", "kill -SEGV $$", "kill -ABRT $$", "bash -c 'kill -KILL $$'; true",
    "(sleep 0.1; exit 0) & exit 0",
  ])
  func afterTheProgram(script: String) throws {
    _ = try start(script: script).finish()
    #expect(sessions == [])
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT]) func afterASignal(signal: Int32) throws {
    // Bash itself ignores SIGQUIT: what says that it has started is the program in its place.
    let child = try start(script: "exec tail -f '\(try sandbox.write("started\n", to: "started"))'")
    #expect(child.wait { child.outputSoFar.contains("started") })
    #expect(sessions.count == 1)
    child.send(signal)
    #expect(child.finish().status == 128 + signal)
    #expect(sessions == [])
  }

  @Test(arguments: [SIGINT, SIGTERM]) func afterASignalDuringTheReport(signal: Int32) throws {
    let pipe = try UnreadPipe(sandbox.path("report"))
    let child = try start("--all", "--output", pipe.path, script: "true")
    #expect(child.wait { pipe.count > 0 })
    #expect(sessions.count == 1)
    child.send(signal)
    #expect(child.finish().status == 128 + signal)
    #expect(sessions == [])
  }

  @Test func anIgnoredSignalStaysIgnoredDuringTheReport() throws {
    let pipe = try UnreadPipe(sandbox.path("report"))
    let child = try start("--all", "--output", pipe.path, script: "true", by: "trap '' INT; exec")
    #expect(child.wait { pipe.count > 0 })
    child.send(SIGINT)
    #expect(child.wait { pipe.empty() && !child.isRunning })
    #expect(child.finish().status == 23)
    #expect(sessions == [])
  }

  @Test(arguments: [true, false]) func theNextRunTakesAwayWhatAKilledToolLeft(hasLock: Bool) throws {
    let child = try start(script: "echo \"pid $$\"; exec sleep 600")
    #expect(child.wait { child.outputSoFar.hasSuffix("\n") })
    let program = try #require(Int32(child.outputSoFar.dropFirst("pid ".count).dropLast()))
    child.send(SIGKILL)
    // Its end cannot be waited for as that of others: the program has inherited what shows it.
    #expect(child.wait { !ProcessFacts.isRunning(child.pid) })
    let left = try #require(sessions.first)
    if !hasLock { try FileManager.default.removeItem(atPath: "\(left)/lock") }
    try makeOld(hasLock ? "\(left)/lock" : left)

    _ = try start(script: "true").finish()
    #expect(sessions == [left], "its program runs")
    kill(program, SIGKILL)
    #expect(child.wait { !ProcessFacts.isRunning(program) })
    _ = try start(script: "true").finish()
    #expect(sessions == [])
  }

  private func makeOld(_ path: String) throws {
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: path)
  }
}

/// A pipe without a reader: writing a long report into it waits.
private final class UnreadPipe {
  let path: String
  private let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    try #require(mkfifo(path, 0o600) == 0)
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// How many bytes wait to be read.
  var count: Int32 {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? count : 0
  }

  /// Reads what is there; true.
  func empty() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while read(descriptor, &buffer, buffer.count) > 0 {}
    return true
  }
}
