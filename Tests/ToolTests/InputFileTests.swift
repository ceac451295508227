import Foundation
import Testing
import UndeadReport

@testable import UndeadTool

/// What a user names to be read is a file, or the pipe of a shell; never what may not end.
@Suite struct InputFileTests {
  private let sandbox: Sandbox

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    try #require(mkfifo(sandbox.path("pipe"), 0o600) == 0)
    try sandbox.write(SampleSnapshot.clean(), to: "file")
  }

  private static let uses: [[String]] = [
    ["leaks", "FILE"], ["heap", "FILE"], ["diff", "FILE", "file"], ["diff", "file", "FILE"], ["merge", "FILE"],
    ["leaks", "--suppressions", "FILE", "file"], ["leaks", "--baseline", "FILE", "file"],
  ]

  @Test(arguments: uses)
  func refusesWhatMayNotEnd(_ words: [String]) throws {
    for name in ["pipe", "/dev/zero", "/dev/tty"] {
      let result = try sandbox.undead(list: words.map { $0 == "FILE" ? name : $0 })
      #expect(result.status == 64 && result.error.contains("no regular file"), "\(name): \(result.error)")
      #expect(result.error.contains("'\(name)'"))
    }
  }

  /// Files that are found by themselves.
  @Test func ignoresPipesThatLieInTheFolder() throws {
    try #require(mkfifo(sandbox.path(".undead.supp"), 0o600) == 0)
    let result = try sandbox.undead("leaks", "file")
    #expect(result.status == 0 && result.error.contains("is no regular file"), "\(result.error)")
  }

  @Test func readsThePipeOfAShell() throws {
    let report = String(decoding: try JSONRenderer.render(LeakReport()), as: UTF8.self)
    for words in [["leaks", "/dev/stdin"], ["diff", "/dev/stdin", "file"], ["merge", "/dev/stdin"]] {
      let result = try sandbox.undead(list: words, input: report)
      #expect(result.status == 0, "\(words): \(result.error)")
    }
    let rules = try sandbox.undead("leaks", "--suppressions", "/dev/stdin", "file", input: "leak:App.Cache\n")
    #expect(rules.status == 0 && rules.error.isEmpty, "\(rules.error)")
  }
}
