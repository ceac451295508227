import Foundation
import UndeadReport

/// Runs `scenarios` under the tool.
public enum ToolRunner {
  /// The exit status of the tool, and its report.
  ///
  /// - Parameters:
  ///   - options: of `undead run`.
  ///   - arguments: of `scenarios`.
  public static func run(options: [String] = [], _ arguments: [String]) async throws -> (Int32, LeakReport) {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("scenario-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = try tool()
    process.arguments =
      ["run"] + options + ["--format", "json", "--output", file.path, "--", try scenarios()] + arguments
    // The crash that follows a zombie needs no second report.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let status = try await endOf(process)
    return (status, try JSONDecoder().decode(LeakReport.self, from: Data(contentsOf: file)))
  }

  /// Starts a process and waits for its end, at most five minutes.
  private static func endOf(_ process: Process) async throws -> Int32 {
    let (ends, end) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = {
      end.yield($0.terminationStatus)
      end.finish()
    }
    try process.run()
    let pid = process.processIdentifier
    let watch = Task {
      try await Task.sleep(for: .seconds(300))
      return stacks(endingProcess: pid)
    }
    let status = await ends.first { _ in true }
    watch.cancel()
    if case .success(let stacks) = await watch.result {
      throw Failure(description: "not over after 300 s: \(process.arguments ?? [])\n\(stacks)")
    }
    return status ?? -1
  }

  /// Ends a process and all that it started; says where their threads were.
  private static func stacks(endingProcess pid: Int32) -> String {
    let script = Process()
    let pipe = Pipe()
    script.executableURL = root.appendingPathComponent("scripts/check/stacks")
    script.arguments = ["--end", "\(pid)"]
    script.standardOutput = pipe
    try? script.run()
    return String(decoding: (try? pipe.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
  }

  /// The package beside this one.
  private static let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..").standardizedFileURL

  private static func scenarios() throws -> String {
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("scenarios").path
  }

  /// From `UNDEAD_TOOL`, else the release or debug build of the package beside this one.
  private static func tool() throws -> URL {
    if let path = ProcessInfo.processInfo.environment["UNDEAD_TOOL"] { return URL(fileURLWithPath: path) }
    let candidates = ["release", "debug"].map { root.appendingPathComponent(".build/\($0)/undead") }
    guard let tool = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
      throw Failure(description: "no tool in \(root.path)/.build: run `swift build` there first")
    }
    return tool
  }

  private struct Failure: Error, CustomStringConvertible {
    var description: String
  }
}
