import Foundation
import Testing
import UndeadReport
import UndeadTestSupport

extension OutsidePackageTests {
  /// Programs of the outside package that use the run loop: it brings nothing of the instrument along.
  @Suite struct RunLoopAloneTests {
    private static let hooks: Set<Substring> = ["malloc", "calloc", "realloc", "free", "undead_instrument_table"]

    @Test func aProgramWithTheRunLoopHasNoHooks() async throws {
      let alone = try await definitions(in: "TickerAlone")
      #expect(alone.contains("main"))
      #expect(alone.intersection(Self.hooks) == [])
      let watched = try await definitions(in: "TickerWatched")
      #expect(watched.intersection(Self.hooks) == Self.hooks)
    }

    @Test func theLoopRunsWithoutAnInstrument() async throws {
      for environment in ["", "UNDEAD=1"] {
        let outcome = try await run(environment, "", "TickerAlone")
        #expect(outcome.output == "ticked true\n")
        #expect(outcome.ending == .exit(0), "\(outcome.errors)")
      }
    }

    @Test func aLinkedInstrumentIsToldOfLoops() async throws {
      let outcome = try await run("UNDEAD=1", "", "TickerWatched")
      #expect(outcome.output == "ticked true\nloops told true\n", "\(outcome.errors)")
    }

    @Test(arguments: ["TickerAlone", "TickerWatched"])
    func theToolIsToldOfLoops(program: String) async throws {
      let directory = try TemporaryDirectory()
      let file = directory.path("report.json")
      let outcome = try await run("", "\(quoted(Tool.path)) run --format json --output \(quoted(file)) --", program)
      #expect(outcome.output.hasPrefix("ticked true\n"), "\(outcome.errors)")
      let report = try JSONRenderer.parse(Data(contentsOf: URL(fileURLWithPath: file)))
      let timer = report.runLoops?["loops"]?.elements.first?["timers"]?.elements.first
      #expect(timer?["name"]?.text == "poll")
      #expect(report.leaks.isEmpty)
      // Known when the program ends, so it is the last check that says so, once.
      let forgotten = report.diagnostics.filter { $0.kind == "timerNeverScheduled" }
      #expect(forgotten.map { $0.details["timer"] } == ["forgotten"])
      #expect(report.diagnostics.count { $0.kind == "scopeNeverClosed" } == (program == "TickerWatched" ? 1 : 0))
    }

    private func definitions(in program: String) async throws -> Set<Substring> {
      let outcome = try await runShell("nm --defined-only --format=just-symbols \(quoted(try await path(program)))")
      try #require(outcome.ending == .exit(0), "\(outcome.errors)")
      return Set(outcome.output.split(separator: "\n"))
    }

    private func run(_ environment: String, _ tool: String, _ program: String) async throws -> Outcome {
      let path = quoted(try await path(program))
      return try await runShell("exec \(OutsidePackageTests.alone) \(environment) \(tool) \(path)")
    }

    private func path(_ program: String) async throws -> String {
      try await OutsidePackage.build.value
      return OutsidePackage.products.appending(path: program).path
    }
  }
}
