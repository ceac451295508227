import Foundation
import Testing
import UndeadReport

/// `undead leaks` of files and `undead diff`.
@Suite(.timeLimit(.minutes(20))) struct SavedReportTests {
  private let sandbox: Sandbox

  init() throws {
    sandbox = try Sandbox()
    try sandbox.write(SampleSnapshot.leaking(["App.Owner"]), to: "one.undead")
    try sandbox.write(SampleSnapshot.leaking(["App.Owner", "App.Child"]), to: "two.undead")
    try sandbox.write(SampleSnapshot.clean(), to: "clean.undead")
  }

  @Test func showsASnapshot() throws {
    let output = try sandbox.undead("leaks", "two.undead")
    #expect(output.status == 23)
    #expect(output.out.contains("App.Owner") && output.out.contains("App.Child"))
    #expect(try sandbox.undead("leaks", "clean.undead").status == 0)
    #expect(try sandbox.undead("leaks", "--exit-code", "0", "two.undead").status == 0)
  }

  @Test func showsAReportAgain() throws {
    let text = try sandbox.undead("leaks", "two.undead").out
    _ = try sandbox.undead("leaks", "--format", "json", "--output", "two.json", "two.undead")
    let again = try sandbox.undead("leaks", "two.json")
    #expect(again.status == 23)
    #expect(again.out == text)
  }

  @Test func tellsNewFromGone() throws {
    let worse = try sandbox.undead("diff", "one.undead", "two.undead")
    #expect(worse.status == 23)
    #expect(worse.out.contains("App.Child"))
    #expect(try sandbox.undead("diff", "two.undead", "one.undead").status == 0)
    #expect(try sandbox.undead("diff", "two.undead", "two.undead").status == 0)
    #expect(try sandbox.undead("diff", "--exit-code", "3", "one.undead", "two.undead").status == 3)
    _ = try sandbox.undead("leaks", "--format", "json", "--output", "one.json", "one.undead")
    #expect(try sandbox.undead("diff", "one.json", "two.undead").status == 23)
    let json = try sandbox.undead("diff", "--format", "json", "one.undead", "two.undead")
    let parsed = try JSONSerialization.jsonObject(with: Data(json.out.utf8)) as? [String: Any]
    #expect((parsed?["new"] as? [Any])?.count == 1)
  }

  @Test func differenceFailsOnWhatItIsAskedFor() throws {
    try sandbox.write(SampleSnapshot.leaking([String](repeating: "App.Owner", count: 1000)), to: "many.undead")
    let grown = try sandbox.undead("diff", "one.undead", "many.undead")
    #expect(grown.status == 23 && grown.out.contains(": 1 -> 1000\n"), "\(grown.out)")
    #expect(try sandbox.undead("diff", "many.undead", "one.undead").status == 0)
    #expect(try sandbox.undead("diff", "--fail-on", "none", "one.undead", "many.undead").status == 0)
    #expect(try sandbox.undead("diff", "--fail-on", "suspects", "one.undead", "many.undead").status == 0)
    #expect(try sandbox.undead("diff", "--fail-on", "none", "one.undead", "two.undead").status == 0)
    #expect(try sandbox.undead("diff", "--exit-code", "0", "one.undead", "many.undead").status == 0)
  }

  @Test func differenceOfAnIncompleteCheckIsNoSilentSuccess() throws {
    var cut = SampleSnapshot.clean()
    cut.isComplete = false
    try sandbox.write(cut, to: "cut-short.undead")
    let unknown = try sandbox.undead("diff", "one.undead", "cut-short.undead")
    #expect(unknown.status == 70 && unknown.out.contains("note: the new report is incomplete"), "\(unknown.out)")
    #expect(try sandbox.undead("diff", "cut-short.undead", "clean.undead").status == 70)
    #expect(try sandbox.undead("diff", "cut-short.undead", "one.undead").status == 23)
    #expect(try sandbox.undead("diff", "--fail-on", "incomplete", "clean.undead", "cut-short.undead").status == 23)
  }

  @Test(arguments: ["missing", "directory", "empty", "text", "broken.json", "cut.undead", "future.undead"])
  func refusesWhatItCannotRead(_ name: String) throws {
    try FileManager.default.createDirectory(
      at: sandbox.directory.appending(path: "directory"), withIntermediateDirectories: true)
    try sandbox.write("", to: "empty")
    try sandbox.write("hello", to: "text")
    try sandbox.write("{\"schemaVersion\": 1", to: "broken.json")
    let whole = SampleSnapshot.leaking().encoded()
    try whole.dropLast(24).write(to: sandbox.directory.appending(path: "cut.undead"))
    var future = whole
    future[8] = 9
    try future.write(to: sandbox.directory.appending(path: "future.undead"))
    let output = try sandbox.undead("leaks", name)
    #expect(output.status == 64)
    #expect(output.error.contains("'\(name)'"))
    #expect(output.out.isEmpty)
  }
}
