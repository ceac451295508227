import Glibc
import UndeadReport

/// `undead test`: runs a package's tests and reports what each of them leaked.
struct TestCommand: Command {
  static let help = CommandHelp(
    name: "test",
    abstract: "Run the tests of a package and report what each of them leaked.",
    usage: "undead test [options] [-- ARGUMENTS OF SWIFT TEST...]",
    examples: [
      ("undead test", "XCTest and Swift Testing, unchanged"),
      ("undead test -- --parallel --filter LoaderTests", "arguments of 'swift test'"),
      ("undead test --format github --report sarif=leaks.sarif", "in CI"),
    ],
    common: [
      "--format", "--output", "--report", "--fail-on", "--all", "--suppressions", "--baseline", "--zombies", "--stacks",
    ],
    discussion: """
      Runs 'swift test' (XCTest and Swift Testing) and searches for leaks when a test process ends. The tests need \
      no change. The report, grouped by test, goes to standard error, or to --output.

      Exit status: that of 'swift test' if it is not 0, else 23 if leaks or zombies were found (see --exit-code and \
      --fail-on), else 0. 64: the command line is wrong, or there is no 'swift'. 70: not all test processes could be \
      checked, though 'swift test' ended with 0.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions
  @OptionGroup(title: "Zombies") var zombies: ZombieOptions
  @OptionGroup var findings: FindingOptions
  @OptionGroup var stacks: StackOptions

  @Argument("[<swift test arguments> ...]", words: .rest, help: "Arguments of 'swift test'.")
  var arguments: [String] = []

  func validate() throws {
    try stacks.check(report, sample: nil, zombies: zombies)
    if stacks.stacks == .sampled {
      throw ValidationError(
        "--stacks sampled: leaks are distinguished by tests, which are found in whole backtraces")
    }
    if let first = arguments.first, first != "--" {
      throw ValidationError("'\(first)' is no option of 'undead test'; arguments of 'swift test' come after '--'")
    }
  }

  func run() throws {
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardError
    var report = report
    report.noStacks = stacks.leavesOut(report)
    let pipeline = try ReportPipeline(options: report, verdict: verdict, groupsByTest: true)
    let run = try TestRun(
      swift: try Self.findSwift(), arguments: System.lastArguments(max(arguments.count - 1, 0)), options: self,
      pipeline: pipeline, sink: sink)
    throw ExitCode(try run.finish())
  }

  private static func findSwift() throws(ToolError) -> String {
    do throws(ToolError) {
      return try ProgramLookup.find("swift", path: System.environment("PATH"))
    } catch {
      throw .misuse("\(error.message): 'undead test' runs 'swift test'; put the 'swift' of a toolchain in PATH")
    }
  }
}
