import RunLoopScenarios
import Testing
import UndeadRunLoop

/// Every scenario about timers: who lives on, and what the run loop shows.
@Suite(.serialized, .timeLimit(.minutes(20))) struct RunLoopScenarioTests {
  @Test(arguments: RunLoopScenario.all)
  func verdict(_ scenario: RunLoopScenario) throws {
    RunLoopDiagnostics.enable()
    defer { RunLoopDiagnostics.disable() }
    let loop = TrackedRunLoop(name: "scenario \(scenario.number)")
    let ownerLives = try scenario.run(loop)
    #expect(ownerLives == scenario.verdict.ownerLives)
    let seen = Set(RunLoopDiagnostics.collected.map(\.kind))
    #expect(seen.isSuperset(of: scenario.verdict.diagnostics), "\(RunLoopDiagnostics.collected)")
    if scenario.verdict.diagnostics.isEmpty {
      // A busy machine may make fires and frames late; nothing else may be reported.
      #expect(seen.isSubset(of: [.lateFire, .loopBlocked, .framesDropped]), "\(RunLoopDiagnostics.collected)")
    }
  }

  @Test func thereIsOneForEachNumber() {
    #expect(RunLoopScenario.all.map(\.number).sorted() == Array(1...25) + Array(32...50))
  }
}
