import Foundation
import UndeadTestSupport

/// The tool under test.
enum Tool {
  /// From `UNDEAD_TOOL`, else the one that was built beside the test bundle.
  static let path =
    ProcessInfo.processInfo.environment["UNDEAD_TOOL"] ?? BuildProducts.directory.appending(path: "undead").path

  /// The one for programs that are compiled with optimisation, from `UNDEAD_RELEASE_TOOL`: users have it so.
  static let releasePath =
    ProcessInfo.processInfo.environment["UNDEAD_TOOL"] ?? ProcessInfo.processInfo.environment["UNDEAD_RELEASE_TOOL"]
    ?? path

  /// How many programs run or compile at a time (`UNDEAD_JOBS`).
  static let gate = Gate(ProcessInfo.processInfo.environment["UNDEAD_JOBS"].flatMap(Int.init) ?? 2)

  /// How often every program is run; all runs must give the same answer (`UNDEAD_REPEAT`).
  static let repetitions = ProcessInfo.processInfo.environment["UNDEAD_REPEAT"].flatMap(Int.init) ?? 1
}

extension BuiltProgram {
  private var commandLine: String {
    let directory = executable.deletingLastPathComponent().path
    let arguments = expectation.arguments.map { " " + $0.replacingOccurrences(of: "$DIRECTORY", with: directory) }
    return quoted(executable.path) + (arguments ?? "")
  }

  /// Runs the program as its author would.
  func runAlone() async throws -> Outcome {
    try await runShell(expectation.shell.replacingOccurrences(of: "$RUN", with: commandLine))
  }

  /// Runs the program under the tool; the report is nil if no file was written.
  /// - Parameters:
  ///   - options: of `undead run`, before those that the program asks for.
  func runUnderTool(
    _ options: [String] = [], environment: [String: String] = [:]
  ) async throws -> (outcome: Outcome, report: Data?) {
    let directory = try TemporaryDirectory()
    let file = directory.path("report.json")
    let words = ["--format", "json", "--output", file] + options + expectation.options
    // Entries for tests are only in debug builds of the tool's library.
    let entries = expectation.usesTestEntry || environment.keys.contains { $0.hasPrefix("UNDEAD_TEST_") }
    let tool = configuration == .release && !entries ? Tool.releasePath : Tool.path
    let run = "\(quoted(tool)) run \(words.map(quoted).joined(separator: " ")) -- \(commandLine)"
    let outcome = try await runShell(
      expectation.shell.replacingOccurrences(of: "$RUN", with: run), environment: environment)
    return (outcome, try? Data(contentsOf: URL(fileURLWithPath: file)))
  }

  /// Whether the exit status that is seen is that of the program and not of a shell around it.
  var showsStatus: Bool { expectation.shell.hasPrefix("exec ") || expectation.shell.contains("; exec ") }
}
