import Glibc
import Testing
import UndeadRunLoop

@Suite(.serialized, .timeLimit(.minutes(20))) struct ConcurrentStressTests {
  /// Far longer than all of it takes, also under a sanitizer and beside other tests.
  private static let limit: Int64 = 300_000_000_000

  @Test(arguments: [false, true]) func whatMustHoldHoldsInEveryInterleaving(endsEarly: Bool) {
    for seed in StressSeeds.seeds(8, of: 30) {
      let stress = StressedThreads(seed: seed, endsEarly: endsEarly)
      stress.start()
      let hasHung =
        hangs(stress, "the threads") { stress.working.load(ordering: .acquiring) == 0 } || hangsAtTheEnd(stress)
      for complaint in Set(stress.complaints.withLock { $0 }).sorted() { Issue.record("\(complaint)") }
      guard !hasHung, stress.complaints.withLock({ $0.isEmpty }) else {
        Issue.record("\(StressSeeds.howToRepeat(seed, "ConcurrentStressTests")), until the interleaving comes again")
        return
      }
    }
  }

  /// Ends what is left, on a thread of its own: it may hang, too.
  private func hangsAtTheEnd(_ stress: StressedThreads) -> Bool {
    let isTidy = Guarded(false)
    startThread {
      stress.tidyUp()
      isTidy.withLock { $0 = true }
    }
    if hangs(stress, "the loops", { isTidy.withLock { $0 } }) { return true }
    if hangs(stress, "tasks", { stress.hopsAreOver }) { return true }
    if hangs(stress, "delayed blocks", { stress.loopsAreEmpty }) { return true }
    stress.end()
    return hangs(stress, "the loops' threads", { stress.areLoopsOver })
      || hangs(stress, "what callbacks hold", { stress.nothingIsHeld })
  }

  private func hangs(_ stress: StressedThreads, _ what: String, _ isOver: () -> Bool) -> Bool {
    let end = monotonic() + Self.limit
    while !isOver() {
      if monotonic() > end {
        Issue.record("\(what) did not come to an end:\n\(stress.dump)")
        return true
      }
      usleep(1000)
    }
    return false
  }
}
