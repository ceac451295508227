import Foundation
import Testing
import UndeadTestSupport

/// A program that stops at its calls, and one that is stopped between any two instructions: what is alive is never told as leaked.
@Suite struct SteppingTests {
  @Test func nothingAliveIsReported() async throws {
    try await Tool.gate.pass {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let script = root.appending(path: "scripts/check/stepping").path
      let library = try BuildProducts.preloadLibrary()
      let options = ProcessInfo.processInfo.environment["UNDEAD_STEPPING"] ?? "--short"
      let outcome = try await runShell(
        "\(quoted(script)) --library \(quoted(library)) \(options)", deadline: .seconds(900))
      #expect(outcome.ending == .exit(0), "\(outcome.output)\(outcome.errors)")
      let looks = outcome.output.matches(of: /(\d+) points in \d+ looks, 0 false reports/).compactMap { Int($0.1) }
      #expect(looks.reduce(0, +) > 100, "\(outcome.output)")
    }
  }
}
