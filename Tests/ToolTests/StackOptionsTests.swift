import Testing

@testable import UndeadTool

/// `--stacks` beside the other options that say what is recorded.
@Suite struct StackOptionsTests {
  @Test(arguments: StackOptions.Stacks.allCases)
  func theLibraryIsTold(_ stacks: StackOptions.Stacks) throws {
    let command = try RunCommand.parse(["--stacks", stacks.rawValue, "--", "true"])
    #expect(command.stacks.settings["UNDEAD_STACKS"] == stacks.rawValue)
    #expect(command.stacks.leavesOut(command.report) == (stacks == .none))
  }

  @Test func withoutItNothingIsSaid() throws {
    let command = try RunCommand.parse(["--no-stacks", "--", "true"])
    #expect(command.stacks.settings.isEmpty && command.stacks.leavesOut(command.report))
    #expect(command.report.settings["UNDEAD_STACKS"] == "none")
  }

  @Test(arguments: [
    ["--stacks", "some"], ["--stacks", "full", "--no-stacks"], ["--stacks", "hybrid"],
    ["--stacks", "none", "--sample", "1KiB"], ["--stacks", "sampled", "--zombies"],
  ])
  func whatDoesNotGoTogether(_ options: [String]) {
    #expect(throws: (any Error).self) { try RunCommand.parse(options + ["--", "true"]) }
  }

  @Test(arguments: [("full", true), ("none", true), ("sampled", false)])
  func testsNeedWholeBacktracesOrNone(_ stacks: String, _ isTaken: Bool) {
    let command = try? TestCommand.parse(["--stacks", stacks])
    #expect((command != nil) == isTaken)
  }
}
