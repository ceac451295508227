import Foundation
import UndeadTestSupport

/// The tool under test.
enum Tool {
  private static let environment = ProcessInfo.processInfo.environment

  /// From `UNDEAD_TOOL`, else the one that was built beside the test bundle.
  static let ofTests = environment["UNDEAD_TOOL"] ?? BuildProducts.directory.appending(path: "undead").path

  /// The same; with `UNDEAD_RELEASE_TOOL` that one, which shows a report in a fifth of the time, with the library from beside the
  /// bundle: it has entries for tests, and checks its own assertions.
  static let path: String = {
    guard environment["UNDEAD_TOOL"] == nil, let release = environment["UNDEAD_RELEASE_TOOL"] else { return ofTests }
    do {
      let directory = try TemporaryDirectory.untilExit()
      let manager = FileManager.default
      for folder in ["bin", "lib/undead"] {
        try manager.createDirectory(at: directory.appending(path: folder), withIntermediateDirectories: true)
      }
      let tool = directory.appending(path: "bin/undead").path
      // The tool looks beside its own file, wherever a link leads.
      if link(release, tool) != 0 { try manager.copyItem(atPath: release, toPath: tool) }
      try manager.createSymbolicLink(
        atPath: directory.appending(path: "lib/undead/libUndeadPreload.so").path,
        withDestinationPath: BuildProducts.preloadLibrary())
      return tool
    } catch {
      fatalError("cannot set up the tool for tests: \(error)")
    }
  }()

  /// The one for programs that are compiled with optimisation, from `UNDEAD_RELEASE_TOOL`: users have it so.
  static let releasePath = environment["UNDEAD_TOOL"] ?? environment["UNDEAD_RELEASE_TOOL"] ?? path

  /// How many programs run or compile at a time (`UNDEAD_JOBS`).
  static let gate = Gate(environment["UNDEAD_JOBS"].flatMap(Int.init) ?? 2)

  /// How often every program is run; all runs must give the same answer (`UNDEAD_REPEAT`).
  static let repetitions = environment["UNDEAD_REPEAT"].flatMap(Int.init) ?? 1
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
    let tool = configuration == .release && !expectation.usesTestEntry ? Tool.releasePath : Tool.path
    let run = "\(quoted(tool)) run \(words.map(quoted).joined(separator: " ")) -- \(commandLine)"
    let outcome = try await runShell(
      expectation.shell.replacingOccurrences(of: "$RUN", with: run), environment: environment)
    return (outcome, try? Data(contentsOf: URL(fileURLWithPath: file)))
  }

  /// Whether the exit status that is seen is that of the program and not of a shell around it.
  var showsStatus: Bool { expectation.shell.hasPrefix("exec ") || expectation.shell.contains("; exec ") }
}
