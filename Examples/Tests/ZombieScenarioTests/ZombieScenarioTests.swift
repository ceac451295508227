import Testing
import ToolRunner
import UndeadReport
import ZombieScenarios

/// Every scenario about dead objects under the tool: the report must give the verdict of the table.
@Suite(.timeLimit(.minutes(20))) struct ZombieScenarioTests {
  @Test(arguments: ZombieScenario.all)
  func verdict(_ scenario: ZombieScenario) async throws {
    let option = scenario.verdict.needsGuard ? "--zombie-mode=guard" : "--zombies"
    let (status, report) = try await ToolRunner.run(options: [option], ["run", scenario.number])
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
