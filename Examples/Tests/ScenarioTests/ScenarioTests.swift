import App
import Foundation
import Testing
import UndeadReport

/// Every scenario under the tool: the report must give the verdict of the table.
@Suite struct ScenarioTests {
  @Test(arguments: Scenario.all)
  func verdict(_ scenario: Scenario) async throws {
    let (status, report) = try await runUnderTool(["run", scenario.number])
    switch scenario.verdict {
    case .clean:
      #expect(report.leaks.isEmpty)
      #expect(report.suspects.isEmpty)
    case .leak(let kind, let type, let fields):
      let leak = try #require(
        report.leaks.first { leak in
          (leak.objects.map(\.type) + (leak.cycle ?? []).map(\.type) + leak.alsoLeaked.map(\.type)).contains(type)
        }, "no leak of \(type) among \(report.leaks.map(\.objects))")
      #expect(leak.kind.rawValue == kind)
      #expect(leak.count == 1)
      let found = (leak.cycle ?? []).map(\.field)
      for field in fields { #expect(found.contains(field), "\(field) is not in \(found)") }
      #expect(report.leaks.count == 1)
      #expect(report.suspects.isEmpty)
    case .suspect(let kind, let type):
      let suspect = try #require(
        report.suspects.first { $0.objects.contains { $0.type == type } }, "\(type) is not suspected")
      #expect(suspect.kind.rawValue == kind)
      #expect(report.suspects.count == 1)
      #expect(report.leaks.isEmpty)
    }
    #expect(report.summary.complete)
    #expect(status == (report.leaks.isEmpty ? 0 : 23))
  }

  @Test func numbersAreUnique() {
    #expect(Set(Scenario.all.map(\.number)).count == Scenario.all.count)
    #expect(Scenario.matching("29").count == 5)
    #expect(Scenario.matching("29.3").map(\.number) == ["29.3"])
    #expect(Scenario.matching("2").isEmpty)
  }
}

private struct ToolError: Error, CustomStringConvertible {
  var description: String
}

/// Runs `scenarios` with arguments under the tool and reads the report.
private func runUnderTool(_ arguments: [String]) async throws -> (status: Int32, report: LeakReport) {
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
