import Foundation
import Testing
import UndeadTestSupport

/// An instrument in which one number of the layouts that it reads is wrong: it refuses to answer, says what may be wrong, or is right.
@Suite struct DriftTests {
  static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "scripts/check/drift").path

  /// `scripts/check/drift` alone has more programs.
  @Test func noWrongNumberGoesUnnoticed() async throws {
    try await Tool.gate.pass {
      let outcome = try await runShell(
        "\(quoted(Self.script)) --short --tool \(quoted(Tool.path))", deadline: .seconds(500))
      #expect(outcome.ending == .exit(0), "\(outcome.output)\(outcome.errors)")
    }
  }
}
