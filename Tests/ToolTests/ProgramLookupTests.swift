import Foundation
import Testing

@testable import UndeadTool

/// Commands are found as the shell finds them.
@Suite(.timeLimit(.minutes(20))) struct ProgramLookupTests {
  private let sandbox: Sandbox

  init() throws {
    sandbox = try Sandbox()
    for folder in ["one", "two"] {
      try FileManager.default.createDirectory(atPath: sandbox.path(folder), withIntermediateDirectories: true)
    }
    try sandbox.write("text", to: "one/program")
    try sandbox.write("#!/bin/sh\n", to: "two/program", mode: 0o755)
  }

  @Test func takesTheFirstExecutableInThePath() throws {
    let path = "/no/such:\(sandbox.path("one")):\(sandbox.path("two"))"
    #expect(try ProgramLookup.find("program", path: path) == sandbox.path("two/program"))
    #expect(try ProgramLookup.find("sh", path: nil) == "/bin/sh")
    #expect(try ProgramLookup.find(sandbox.path("two/program"), path: nil) == sandbox.path("two/program"))
  }

  @Test func saysWhatIsWrong() throws {
    func message(_ command: String, path: String = "") -> String {
      let error = #expect(throws: ToolError.self) { try ProgramLookup.find(command, path: path) }
      #expect(error?.status == 64)
      return error?.message ?? ""
    }
    #expect(message("program", path: sandbox.path("one")).contains("chmod +x"))
    #expect(message("nonsense", path: sandbox.path("one")).contains("no program 'nonsense' in PATH"))
    #expect(message("/no/such/program").contains("no such program: '/no/such/program'"))
    #expect(message(sandbox.path("one")).contains("is a directory"))
    #expect(message(sandbox.path("one/program")).contains("not executable"))
    #expect(message("").contains("empty"))
  }
}
