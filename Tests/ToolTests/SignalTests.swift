import Foundation
import Testing
import UndeadReport

/// Signals, and snapshots on request.
@Suite(.timeLimit(.minutes(20))) struct SignalTests {
  private let sandbox: Sandbox
  private let settings: [String: String]

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    settings = [
      "FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.clean(), to: "clean.undead"),
      "FAKE_REQUEST_SNAPSHOT": try sandbox.write(
        SampleSnapshot.leaking(["App.Midway"], trigger: "request"), to: "request.undead"),
    ]
  }

  private func start(_ options: String..., script: String) throws -> Sandbox.Child {
    try sandbox.start(
      [sandbox.path("bin/undead"), "run"] + options + ["--", "bash", "-c", script], environment: settings)
  }

  /// A program that says its process id, shows the signals that it gets, and ends at TERM with status 3.
  private let listener = """
    trap 'echo got USR1' USR1; trap 'echo got HUP' HUP; trap 'echo got TERM; exit 3' TERM
    echo "pid $$"; while true; do sleep 0.01; done
    """

  private func pid(of child: Sandbox.Child) throws -> Int32 {
    try #require(child.wait { child.outputSoFar.contains("pid ") && child.outputSoFar.contains("\n") })
    let line = child.outputSoFar.split(separator: "\n")[0]
    return try #require(Int32(line.dropFirst("pid ".count)))
  }

  @Test func areHandedOn() throws {
    let child = try start(script: listener)
    _ = try pid(of: child)
    for (signal, name) in [(SIGUSR1, "USR1"), (SIGHUP, "HUP")] {
      child.send(signal)
      #expect(child.wait { child.outputSoFar.contains("got \(name)") })
    }
    child.send(SIGTERM)
    let output = child.finish()
    #expect(output.status == 3)
    #expect(output.out.contains("got TERM"))
  }

  @Test func thatTheProgramDiesOfAreItsStatus() throws {
    let child = try start(script: "echo \"pid $$\"; while true; do sleep 0.01; done")
    _ = try pid(of: child)
    child.send(SIGTERM)
    #expect(child.finish().status == 128 + SIGTERM)
  }

  @Test func theirMaskAndDispositionsAreThoseOfTheProgram() throws {
    let show = "grep -E '^Sig(Blk|Ign)' /proc/self/status"
    let bare = try sandbox.command(["bash", "-c", "trap '' USR2; \(show)"])
    let under = try sandbox.command(
      ["bash", "-c", "trap '' USR2; \(sandbox.path("bin/undead")) run -- bash -c \"\(show)\""], environment: settings)
    #expect(under.out == bare.out)
  }

  @Test func descriptorsAreThoseOfTheProgram() throws {
    // From one shell: other tests may have left descriptors of theirs to it.
    let list = "ls /proc/self/fd | grep -v 255 | sort"
    let tool = "\(sandbox.path("bin/undead")) run -- bash -c '\(list)'"
    let output = try sandbox.command(
      ["bash", "-c", "exec 7</dev/null; bash -c '\(list)'; echo; \(tool)"], environment: settings)
    let parts = output.out.components(separatedBy: "\n\n")
    #expect(parts.count == 2)
    #expect(parts.last == parts.first.map { $0 + "\n" })
    #expect(parts.first?.split(separator: "\n").contains("7") == true)
  }

  @Test func standardInputReachesTheProgram() throws {
    let output = try sandbox.command(
      [sandbox.path("bin/undead"), "run", "--", "cat"], environment: settings, input: "through\n")
    #expect(output.out == "through\n")
  }

  @Test func argumentsAreHandedOnByteForByte() throws {
    let script = "\(sandbox.path("bin/undead")) run -- printf '%s|' $'a\\xffb' '' '--depth' '-- x' | od -An -c"
    let bare = try sandbox.command(["bash", "-c", "printf '%s|' $'a\\xffb' '' '--depth' '-- x' | od -An -c"])
    #expect(try sandbox.command(["bash", "-c", script], environment: settings).out == bare.out)
  }

  @Test func canAskForASnapshot() throws {
    let child = try start("--snapshot-signal", "USR1", script: listener)
    _ = try pid(of: child)
    child.send(SIGUSR1)
    #expect(child.wait { child.errorSoFar.contains("App.Midway") })
    child.send(SIGTERM)
    let output = child.finish()
    #expect(output.status == 3)
    #expect(!output.out.contains("got USR1"))
  }

  @Test func snapshotsOfARunningProgram() throws {
    let child = try start(script: listener)
    let pid = try pid(of: child)
    let snapshot = try sandbox.undead("leaks", "--save", "kept.undead", "\(pid)")
    #expect(snapshot.status == 23, "\(snapshot.error)")
    #expect(snapshot.out.contains("App.Midway"))
    #expect(try sandbox.undead("leaks", "kept.undead").out.contains("App.Midway"))
    let byTool = try sandbox.undead("leaks", "\(child.pid)")
    #expect(byTool.status == 23, "\(byTool.error)")
    child.send(SIGTERM)
    #expect(child.finish().status == 3)
    #expect(try sandbox.undead("leaks", "\(pid)").error.contains("no such process"))
  }

  @Test func aProgramThatDoesNotListenIsNotSignalled() throws {
    let child = try sandbox.start(
      [sandbox.path("bin/undead"), "run", "--", "bash", "-c", listener],
      environment: ["FAKE_SNAPSHOT": sandbox.path("clean.undead")])
    let pid = try pid(of: child)
    let output = try sandbox.undead("leaks", "--timeout", "1", "\(pid)")
    #expect(output.status == 70)
    #expect(output.error.contains("does not listen"))
    child.send(SIGTERM)
    #expect(child.finish().status == 3)
  }
}
