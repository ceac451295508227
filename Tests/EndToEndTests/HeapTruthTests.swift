import Foundation
import Testing
import UndeadTestSupport

/// A program that knows which of its objects are alive: nothing that is alive is reported, most of what leaked is.
@Suite struct HeapTruthTests {
  @Test func nothingAliveIsReported() async throws {
    try await Tool.gate.pass {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let script = root.appending(path: "scripts/check/heap-truth").path
      let library = try BuildProducts.preloadLibrary()
      let outcome = try await runShell(
        "\(quoted(script)) --library \(quoted(library)) \(Thorough.isOn ? "--release" : "--debug") --seeds 8",
        deadline: .seconds(900))
      #expect(outcome.ending == .exit(0), "\(outcome.output)\(outcome.errors)")
      let told = try #require(outcome.output.firstMatch(of: /(\d+) of (\d+) leaked objects told/))
      // One stale word can hide a holder with all that hangs off it.
      #expect(Int(told.1)! * 2 > Int(told.2)!, "\(outcome.output)")
    }
  }
}
