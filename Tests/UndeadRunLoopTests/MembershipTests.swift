import Testing

@testable import UndeadRunLoop

/// Sources and observers that several threads use at once.
@Suite(.timeLimit(.minutes(20))) struct MembershipTests {
  @Test func whatHasEndedStaysEndedForWhoeverLooks() {
    let source = TrackedRunLoopSource { _ in }
    source.invalidate()
    let (signals, valid, looks) = (Counter(), Counter(), Counter())
    let count = 100_000
    concurrently(2) { index in
      if index == 0 {
        while signals.count == 0 {}
        while looks.up() < count { if source.isValid { valid.up() } }
      } else {
        while looks.count < count {
          source.signal()
          signals.up()
        }
      }
    }
    #expect(valid.count == 0)
  }
}
