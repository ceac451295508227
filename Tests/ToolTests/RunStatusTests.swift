import Foundation
import Testing
import UndeadReport

/// The exit status of `undead run`, with a library that plays each part.
@Suite(.timeLimit(.minutes(20))) struct RunStatusTests {
  private let sandbox: Sandbox
  private let clean: String
  private let leaking: String

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    clean = try sandbox.write(SampleSnapshot.clean(), to: "clean.undead")
    leaking = try sandbox.write(SampleSnapshot.leaking(), to: "leaking.undead")
  }

  private func run(_ environment: [String: String], _ options: String..., command: [String]) throws -> Sandbox.Output {
    try sandbox.command(
      [sandbox.path("bin/undead"), "run"] + options + ["--"] + command, environment: environment)
  }

  @Test func isThatOfTheProgramWithoutFindings() throws {
    #expect(try run(["FAKE_SNAPSHOT": clean], command: ["true"]).status == 0)
    #expect(try run(["FAKE_SNAPSHOT": clean], command: ["false"]).status == 1)
  }

  @Test func tellsFindings() throws {
    let output = try run(["FAKE_SNAPSHOT": leaking], command: ["true"])
    #expect(output.status == 23)
    #expect(output.error.contains("App.Owner"))
    #expect(output.out.isEmpty)
    #expect(try run(["FAKE_SNAPSHOT": leaking], "--exit-code", "5", command: ["true"]).status == 5)
    #expect(try run(["FAKE_SNAPSHOT": leaking], "--exit-code", "0", command: ["true"]).status == 0)
    #expect(try run(["FAKE_SNAPSHOT": leaking], "--fail-on", "suspects", command: ["true"]).status == 0)
    #expect(try run(["FAKE_SNAPSHOT": leaking], "--fail-on", "none", command: ["true"]).status == 0)
  }

  @Test func ofTheProgramGoesFirst() throws {
    let output = try run(["FAKE_SNAPSHOT": leaking], command: ["bash", "-c", "exit 7"])
    #expect(output.status == 7)
    #expect(output.error.contains("App.Owner"))
  }

  @Test func tellsTheSignalThatEndedTheProgram() throws {
    let output = try run([:], command: ["sh", "-c", "kill -KILL $$"])
    #expect(output.status == 137)
    #expect(output.error.contains("no check was made: the program was ended by SIGKILL"))
  }

  @Test func isFailureWhereNoCheckWasMade() throws {
    let silent = try run([:], command: ["true"])
    #expect(silent.status == 70)
    #expect(silent.error.contains("no check was made: the program ended neither by exit nor by a return from main"))
    let failed = try run(["FAKE_FAILURE": "the disk is full"], command: ["true"])
    #expect(failed.status == 70)
    #expect(failed.error.contains("the disk is full"))
    let aside = try run(["FAKE_ASIDE": "another allocator is in charge"], command: ["true"])
    #expect(aside.status == 70)
    #expect(aside.error.contains("no check was made: another allocator is in charge"))
    #expect(try run(["FAKE_FAILURE": "x"], command: ["false"]).status == 1)
  }

  @Test func isThatOfAProgramWithoutSwift() throws {
    let output = try run(["FAKE_NO_SWIFT": "1"], command: ["true"])
    #expect(output.status == 0)
    #expect(output.error.split(separator: "\n").count == 1)
    #expect(output.error.contains("no Swift runtime was seen"))
  }

  @Test func isFailureForADamagedSnapshot() throws {
    let damaged = try sandbox.write("UNDEAD\r\nnot really", to: "damaged.undead")
    let output = try run(["FAKE_SNAPSHOT": damaged], command: ["true"])
    #expect(output.status == 70)
    #expect(output.error.contains("cannot be read"))
  }

  @Test func isFailureForAnIncompleteCheckWithoutFindings() throws {
    var snapshot = SampleSnapshot.clean()
    snapshot.isComplete = false
    try sandbox.write(snapshot, to: "incomplete.undead")
    #expect(try run(["FAKE_SNAPSHOT": sandbox.path("incomplete.undead")], command: ["true"]).status == 70)
  }

  @Test func isMisuseForWhatCannotRun() throws {
    for command in [["/no/such/program"], ["no-such-command"], ["/tmp"], [""]] {
      let output = try run([:], command: command)
      #expect(output.status == 64, "\(command): \(output.error)")
    }
    try sandbox.write("text", to: "plain")
    #expect(try run([:], command: ["./plain"]).error.contains("chmod +x"))
  }

  @Test func isMisuseForAWrongCommandLine() throws {
    #expect(try sandbox.undead("run").status == 64)
    #expect(try sandbox.undead("run", "--").status == 64)
    #expect(try sandbox.undead("run", "--no-such-option", "true").status == 64)
    #expect(try sandbox.undead("run", "--exit-code", "256", "true").status == 64)
    #expect(try sandbox.undead("run", "--fail-on", "leek", "true").status == 64)
    #expect(try sandbox.undead("run", "--snapshot-signal", "KILL", "true").status == 64)
    #expect(try sandbox.undead("frobnicate").status == 64)
  }

  @Test func namesTheWrongLineOfSuppressions() throws {
    try sandbox.write("leak:fine # ok\nnonsense\n", to: "suppressions")
    let output = try run(["FAKE_SNAPSHOT": clean], "--suppressions", "suppressions", command: ["touch", "ran"])
    #expect(output.status == 64)
    #expect(output.error.contains("suppressions:2:"))
    #expect(try run([:], "--suppressions", "missing", command: ["true"]).error.contains("missing"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("ran")))
  }

  @Test func suppressesWhatAFileLists() throws {
    try sandbox.write("type:App.Owner # known\n", to: "suppressions")
    #expect(
      try run(["FAKE_SNAPSHOT": leaking], "--suppressions", "suppressions", command: ["true"]).status == 0)
  }

  @Test func failsWithoutItsLibrary() throws {
    try FileManager.default.removeItem(atPath: sandbox.path("lib/undead/libUndeadPreload.so"))
    let output = try run([:], command: ["touch", "ran"])
    #expect(output.status == 70)
    #expect(output.error.contains("libUndeadPreload.so"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("ran")))
  }
}
