import Foundation
import UndeadReport

private struct ToolError: Error, CustomStringConvertible {
  var description: String
}

/// Runs `scenarios` with arguments under the tool and reads the report.
func runUnderTool(_ arguments: [String]) async throws -> (status: Int32, report: LeakReport) {
  let file = FileManager.default.temporaryDirectory.appendingPathComponent("scenario-\(UUID().uuidString).json")
  defer { try? FileManager.default.removeItem(at: file) }
  let process = Process()
  process.executableURL = try toolLocation()
  let scenarios = try buildDirectory().appendingPathComponent("scenarios")
  process.arguments = ["run", "--format", "json", "--output", file.path, "--", scenarios.path] + arguments
  process.standardOutput = FileHandle.nullDevice
  let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
    process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
    do { try process.run() } catch { continuation.resume(throwing: error) }
  }
  return (status, try JSONDecoder().decode(LeakReport.self, from: Data(contentsOf: file)))
}

private func buildDirectory() throws -> URL {
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  return URL(fileURLWithPath: bundle).deletingLastPathComponent()
}

/// From `UNDEAD_TOOL`, else the release or debug build of the package beside this one.
private func toolLocation() throws -> URL {
  if let path = ProcessInfo.processInfo.environment["UNDEAD_TOOL"] { return URL(fileURLWithPath: path) }
  let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../.build").standardizedFileURL
  let candidates = ["release", "debug"].map { root.appendingPathComponent("\($0)/undead") }
  guard let tool = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
    throw ToolError(description: "no tool in \(root.path): run `swift build` in the parent directory first")
  }
  return tool
}
