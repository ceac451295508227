import Testing
import UndeadXCTest
import XCTest

@Suite(.serialized) @MainActor struct HeapGrowthTests {
  @Test func whatBecomesMoreEachTime() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertNoHeapGrowth { Registry.owners.withLock { $0.append(SendableOwner()) } }
    }
    let failure = failures.first { $0.text.contains("growth: more UndeadXCTestTests.SendableOwner") }
    #expect(failure != nil)
    // Not the collection's storage, nor the mutex around it: the variable that has both.
    let text = failure?.text ?? ""
    #expect(text.contains("\n  in         static UndeadXCTestTests.Registry.owners\n"), "\(text)")
  }

  @Test func whatGoesAgain() {
    let failures = CaseRunner.failures { (_: XCTestCase) in assertNoHeapGrowth { _ = Owner() } }
    #expect(failures == [])
  }

  @Test func anErrorOfTheScenarioIsThrown() {
    struct Stop: Error {}
    let failures = CaseRunner.failures { (_: XCTestCase) in
      XCTAssertThrowsError(try assertNoHeapGrowth { throw Stop() }) { XCTAssertTrue($0 is Stop) }
    }
    #expect(failures == [])
  }

  @Test func objectsThatAreAlive() {
    final class Counted {}
    let failures = CaseRunner.failures { (_: XCTestCase) in
      let objects = [Counted(), Counted()]
      assertLiveObjects(of: Counted.self, atMost: 2)
      assertLiveObjects(of: Counted.self, atMost: 1)
      withExtendedLifetime(objects) {}
    }
    #expect(failures.count == 1)
    #expect(failures.first?.text.contains("2 objects of") == true)
  }
}
