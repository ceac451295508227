import Foundation
import Testing
import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadTestSupport

/// What `undead diff` reports for two heap files of one program that grows in a known way.
@Suite struct GrowthTests {
  private func tool(_ program: Program) -> String { program.configuration == .release ? Tool.releasePath : Tool.path }

  private func withHeaps(
    _ program: Program, _ body: @Sendable @escaping (String, String, String) async throws -> Void
  ) async throws {
    try await Tool.gate.pass {
      let built = try await program.build()
      let directory = try TemporaryDirectory()
      let (before, after) = (directory.path("before.heap"), directory.path("after.heap"))
      let undead = quoted(tool(program))
      let outcome = try await runShell(
        """
        cd \(quoted(directory.url.path))
        await() { while ! [ -e "$1" ] && kill -0 $tool; do sleep 0.01; done; }
        \(undead) run -- \(quoted(built.executable.path)) . 2> report &
        tool=$!
        await ready; pid=$(cat ready)
        \(undead) leaks $pid --heap before.heap > /dev/null || exit 1
        : > go; await done
        \(undead) leaks $pid --heap after.heap > /dev/null || exit 2
        : > stop; wait $tool
        """)
      #expect(outcome.ending == .exit(0), "\(outcome.errors)")
      try await body(undead, before, after)
    }
  }

  @Test(arguments: Program.selected(in: "Growth"))
  func theContainersThatGrew(_ program: Program) async throws {
    try await withHeaps(program) { undead, before, after in
      let outcome = try await runShell("\(undead) diff \(quoted(before)) \(quoted(after)) --format json")
      #expect(outcome.ending == .exit(0) && outcome.errors == "")
      let diff = try JSONDecoder().decode(HeapDiff.self, from: Data(outcome.output.utf8))
      #expect(diff.sameProcess && diff.notes == [])
      // The requests were replaced by as many as before.
      #expect(
        diff.growth.prefix(2).map { "\($0.containerType).\($0.field) \($0.type) \($0.count)" } == [
          "App.Cache.sessions App.Session 3000", "App.Log.times Swift._ContiguousArrayStorage<Swift.Int> 0",
        ])
      let sessions = try #require(diff.growth.first)
      #expect(sessions.turnover?.came == 3000 && sessions.turnover?.went == 0 && sessions.after.count == 3100)
      #expect(sessions.sites.first?.allocation.frames.contains { $0.symbol.hasPrefix("App.logIn(") } == true)
      #expect(sessions.retainPath.first?.root == PathStep.Root(kind: "global", name: "App.server"))
      let elements = diff.growth.dropFirst().first?.elements
      #expect(elements?.before == 1000 && elements?.after == 101_000)
      let requests = diff.types.first { $0.type == "App.Request" }
      #expect(requests == nil || requests?.before.count == requests?.after.count)

      let text = try await runShell(
        "\(undead) diff \(quoted(before)) \(quoted(after)) --no-stacks --fail-on-growth App.Session")
      #expect(text.ending == .exit(23) && text.errors.contains("--fail-on-growth App.Session"))
      #expect(text.output.contains("1. .sessions of App.Cache: +"))
    }
  }

  @Test(arguments: Program.selected(in: "Growth"))
  func findings(_ program: Program) async throws {
    try await withHeaps(program) { undead, before, _ in
      let outcome = try await runShell("\(undead) heap \(quoted(before)) --format json")
      let report = try JSONDecoder().decode(HeapReport.self, from: Data(outcome.output.utf8))
      #expect(
        report.findings.map { "\($0.kind) \($0.objects) \($0.container?.type ?? "").\($0.container?.field ?? "")" } == [
          "sliceOfLargeBuffer 10 App.Request.header.name"
        ])
    }
  }
}
