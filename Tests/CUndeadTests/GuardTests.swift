import CUndeadTestEntry
import Testing

/// Crashes of checks are contained, whatever threads do that were given up earlier.
@Suite struct GuardTests {
  @Test func aSourceThatReturnsDuringACheckTakesNothingFromIt() async {
    await #expect(processExitsWith: .success) {
      #expect(undead_test_late_source(true))
    }
  }

  @Test func aSourceThatReturnsAfterACheckTakesNothingFromTheNext() async {
    await #expect(processExitsWith: .success) {
      #expect(undead_test_late_source(false))
    }
  }

  @Test func guardsKeepAndLoseNothingOfTheProgram() async {
    await #expect(processExitsWith: .success) {
      let problem = undead_test_guards().map { String(cString: $0) }
      #expect(problem == nil)
    }
  }
}
