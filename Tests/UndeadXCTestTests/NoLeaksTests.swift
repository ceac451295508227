import Testing
import UndeadXCTest
import XCTest

@Suite(.serialized, .timeLimit(.minutes(20))) @MainActor struct NoLeaksTests {
  @Test func aCycleFailsAtTheLineOfTheAssertion() {
    var line = 0
    let failures = CaseRunner.failures { (_: XCTestCase) in
      line = #line + 1
      assertNoLeaks { makeCycle() }
    }
    #expect(failures.map(\.line) == [line])
    for word in ["leak: retain cycle", "UndeadXCTestTests.Owner", ".item", ".owner", "allocated  in"] {
      #expect(failures.first?.text.contains(word) == true, "\(word)")
    }
  }

  @Test func whatDiesOrIsReachableIsNoLeak() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertNoLeaks { _ = Owner() }
      assertNoLeaks { Registry.owners.withLock { $0.append(SendableOwner()) } }
    }
    #expect(failures == [])
  }

  @Test func theInnermostAssertionReports() {
    var line = 0
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertNoLeaks {
        line = #line + 1
        assertNoLeaks { makeCycle() }
      }
    }
    #expect(failures.map(\.line) == [line])
  }

  @Test func aBodyThatThrowsIsCheckedToo() {
    struct Stop: Error {}
    let failures = CaseRunner.failures { (_: XCTestCase) in
      XCTAssertThrowsError(
        try assertNoLeaks {
          makeCycle()
          throw Stop()
        })
    }
    #expect(failures.count == 1)
  }

  @Test func theResultOfTheBodyIsReturned() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      XCTAssertEqual(assertNoLeaks { 7 }, 7)
    }
    #expect(failures == [])
  }

  @Test func theMessageIsShown() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertNoLeaks("of the cart") { makeCycle() }
    }
    #expect(failures.first?.text.contains("of the cart") == true)
  }

  @Test func whatIsIgnoredFailsNothing() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertNoLeaks(ignoring: ["type:UndeadXCTestTests.Item"]) { makeCycle() }
      assertNoLeaks("of the cart", ignoring: ["leak:makeCycle"]) { makeCycle() }
    }
    #expect(failures == [])
    let others = CaseRunner.failures { (_: XCTestCase) in
      assertNoLeaks(ignoring: ["type:Nothing"]) { makeCycle() }
      assertNoLeaks(ignoring: ["nonsense"]) { _ = Owner() }
    }
    #expect(others.map { $0.text.contains("retain cycle") } == [true, false])
    #expect(others.last?.text.contains("a rule after `ignoring` has no effect: \"nonsense\"") == true)
  }

  @Test func anExpectedLeakFailsNothing() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertNoLeaks { expectLeak("on purpose") { makeCycle() } }
    }
    #expect(failures == [])
  }

  @Test func anExpectedLeakThatIsNotThereFails() {
    let failures = CaseRunner.failures { (_: XCTestCase) in expectLeak("on purpose") { _ = Owner() } }
    #expect(failures.map(\.text) == ["failed - nothing leaked, but a leak was expected: on purpose"])
  }

  @Test func leaksAreFoundHoweverMemoryIsUsedAgain() {
    var found = 0
    for number in 0..<30 {
      // Leaves addresses of what is freed again on the stack.
      let words = (0..<40).map { "a text on the heap, number \($0) of \(number)" }
      let failures = CaseRunner.failures { (_: XCTestCase) in
        withExtendedLifetime(words.map { $0 + "!" }) {}
        assertNoLeaks { makeCycle() }
      }
      found += failures.count
    }
    #expect(found == 30)
  }
}
