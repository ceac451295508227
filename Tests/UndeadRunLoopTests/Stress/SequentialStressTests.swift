import Glibc
import Testing
import UndeadRunLoop
import UndeadTestSupport

/// How many seeds a stress test tries: UNDEAD_STRESS_SEEDS, for long runs; UNDEAD_STRESS_SEED tries one.
enum StressSeeds {
  static func seeds(_ few: Int, of all: Int) -> Range<UInt64> {
    if let one = number("UNDEAD_STRESS_SEED") { return one..<one + 1 }
    return 1..<(number("UNDEAD_STRESS_SEEDS") ?? UInt64(Thorough.count(few, of: all))) + 1
  }

  private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

  static func howToRepeat(_ seed: UInt64, _ test: String) -> String {
    "to repeat it: UNDEAD_STRESS_SEED=\(seed) swift test --filter \(test)"
  }
}

@Suite(.timeLimit(.minutes(20))) struct SequentialStressTests {
  @Test func aLoopDoesWhatTheModelDoes() {
    for seed in StressSeeds.seeds(40, of: 150) {
      let (model, loop) = (StressModel(), StressedLoop())
      let (expected, seen) = (StressScript(model, seed: seed), StressScript(loop, seed: seed))
      expected.play()
      seen.play()
      guard expected.log != seen.log else { continue }
      let common = zip(expected.log, seen.log).prefix { $0 == $1 }.count
      let before = expected.log[..<common].suffix(60).joined(separator: "\n")
      let told = { (log: [String]) in log[common...].prefix(8).joined(separator: ", ") }
      Issue.record(
        """
        \(before)
        then the model: \(told(expected.log))
        but the loop: \(told(seen.log))
        \(StressSeeds.howToRepeat(seed, "SequentialStressTests"))
        """)
      return
    }
  }
}
