import Foundation
import Testing
import UndeadReport
import ZombieScenarios

/// Every scenario about dead objects under the tool: the report must give the verdict of the table.
@Suite struct ZombieScenarioTests {
  @Test(arguments: ZombieScenario.all)
  func verdict(_ scenario: ZombieScenario) async throws {
    let option = scenario.verdict.needsGuard ? "--zombies=guard" : "--zombies"
    let (status, report) = try await runUnderTool(option, ["run", scenario.number])
    let zombie = try #require(report.zombies.first, "no zombie; the notes are \(report.summary.notes)")
    #expect(report.zombies.count == 1)
    #expect(scenario.verdict.kinds.contains(zombie.kind), "\(zombie.message)")
    #expect(zombie.type.contains(scenario.verdict.type), "\(zombie.message)")
    if let member = scenario.verdict.member { #expect(zombie.member == member) }
    for backtrace in [zombie.allocation, zombie.deallocation, zombie.access] {
      #expect(backtrace.frames.contains { $0.symbol.contains("ZombieScenario") }, "\(zombie.message)")
    }
    if zombie.kind == "timerTarget" {
      // The timer does not touch its target: the program goes on.
      #expect(status == 23)
    } else {
      #expect(status > 128, "the program went on after \(zombie.message)")
      #expect(report.process.signal == Int(status) - 128)
    }
  }

  @Test func numbersAreUnique() {
    #expect(Set(ZombieScenario.all.map(\.number)).count == ZombieScenario.all.count)
    #expect(ZombieScenario.matching("28").count == 5)
  }
}

/// Runs `scenarios` with arguments under the tool and reads the report.
private func runUnderTool(_ option: String, _ arguments: [String]) async throws -> (status: Int32, report: LeakReport) {
  let file = FileManager.default.temporaryDirectory.appendingPathComponent("zombie-\(UUID().uuidString).json")
  defer { try? FileManager.default.removeItem(at: file) }
  let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let scenarios = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("scenarios")
  let process = Process()
  process.executableURL = try toolLocation()
  process.arguments = ["run", option, "--format", "json", "--output", file.path, "--", scenarios.path] + arguments
  process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
  process.standardOutput = FileHandle.nullDevice
  process.standardError = FileHandle.nullDevice
  let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
    process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
    do { try process.run() } catch { continuation.resume(throwing: error) }
  }
  return (status, try JSONDecoder().decode(LeakReport.self, from: Data(contentsOf: file)))
}

/// From `UNDEAD_TOOL`, else the release or debug build of the package beside this one.
private func toolLocation() throws -> URL {
  if let path = ProcessInfo.processInfo.environment["UNDEAD_TOOL"] { return URL(fileURLWithPath: path) }
  let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../.build").standardizedFileURL
  let candidates = ["release", "debug"].map { root.appendingPathComponent("\($0)/undead") }
  return try #require(
    candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) },
    "no tool in \(root.path): run `swift build` in the parent directory first")
}
