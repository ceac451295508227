import Foundation
import Testing
import UndeadReport

/// Where reports go, and what happens if they cannot.
@Suite(.timeLimit(.minutes(20))) struct OutputTests {
  private let sandbox: Sandbox
  private let leaking: [String: String]

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    leaking = ["FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.leaking(), to: "leaking.undead")]
  }

  @Test func goesToAFile() throws {
    let output = try sandbox.undead("run", "--output", "report", "--", "echo", "hello", environment: leaking)
    #expect(output.out == "hello\n")
    #expect(output.error.isEmpty)
    #expect(try String(contentsOfFile: sandbox.path("report"), encoding: .utf8).contains("App.Owner"))
  }

  @Test func isJSON() throws {
    _ = try sandbox.undead("run", "--format", "json", "--output", "report.json", "true", environment: leaking)
    let data = try Data(contentsOf: sandbox.directory.appending(path: "report.json"))
    let report = try JSONRenderer.parse(data)
    #expect(report.summary.leaks == 1)
    #expect(report.leaks.first?.objects.first?.type == "App.Owner")
    #expect(report.process.exitStatus == 0)
  }

  @Test func isJSONAlsoWithoutACheck() throws {
    _ = try sandbox.undead("run", "--format", "json", "--output", "report.json", "--", "sh", "-c", "kill -9 $$")
    let data = try Data(contentsOf: sandbox.directory.appending(path: "report.json"))
    let report = try JSONRenderer.parse(data)
    #expect(!report.summary.complete)
    #expect(report.process.signal == 9)
    #expect(report.summary.notes.contains { $0.contains("no check was made") })
  }

  @Test func mustBeWritableBeforeTheProgramRuns() throws {
    let output = try sandbox.undead("run", "--output", "/no/such/directory/report", "--", "touch", "ran")
    #expect(output.status == 64)
    #expect(output.error.contains("/no/such/directory/report"))
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("ran")))
  }

  /// What was there before stays until there is a whole report.
  @Test func isNotThereIfNoProgramRan() throws {
    _ = try sandbox.write("old", to: "older")
    for name in ["report", "older"] {
      let output = try sandbox.undead(
        "run", "--output", name, "--report", "json=\(name).json", "--", "/no/such/program")
      #expect(output.status == 64)
    }
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("report")))
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("report.json")))
    #expect(try String(contentsOfFile: sandbox.path("older"), encoding: .utf8) == "old")
  }

  @Test func ofAFullDiskIsAFailure() throws {
    let output = try sandbox.undead("run", "--output", "/dev/full", "true", environment: leaking)
    #expect(output.status == 70)
    #expect(output.error.contains("No space left on device"))
  }

  @Test func hasColourOnlyOnDemand() throws {
    #expect(try !sandbox.undead("run", "true", environment: leaking).error.contains("\u{1B}["))
    #expect(try sandbox.undead("run", "--color", "always", "true", environment: leaking).error.contains("\u{1B}["))
  }

  @Test func savesASnapshotThatCanBeShownAgain() throws {
    let first = try sandbox.undead("run", "--save", "kept.undead", "true", environment: leaking)
    let again = try sandbox.undead("leaks", "kept.undead")
    #expect(again.status == 23)
    #expect(again.out == first.error)
  }

  @Test func ofAReaderThatLeftIsNoReasonToDie() throws {
    let output = try sandbox.command(
      ["bash", "-c", "\(sandbox.path("bin/undead")) run --output /dev/stdout true | true; echo ${PIPESTATUS[0]}"],
      environment: leaking)
    // Either it was quick enough, or it says that nobody reads.
    #expect(["23", "70"].contains(output.out.trimmingCharacters(in: .whitespacesAndNewlines)))
  }
}
