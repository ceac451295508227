import App
import Testing
import ToolRunner
import UndeadReport

/// Every scenario under the tool: the report must give the verdict of the table.
@Suite(.timeLimit(.minutes(20))) struct ScenarioTests {
  @Test(arguments: Scenario.all)
  func verdict(_ scenario: Scenario) async throws {
    let (status, report) = try await ToolRunner.run(["run", scenario.number])
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
