import Testing
import UndeadXCTest
import XCTest

@Suite(.serialized) @MainActor struct DeallocatedTests {
  @Test func anObjectThatDies() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      assertDeallocated { Owner() }
      var owner: Owner? = Owner()
      assertDeallocated(&owner)
      XCTAssertNil(owner)
      assertDeallocated { nil as Owner? }
    }
    #expect(failures == [])
  }

  @Test func anObjectThatLives() {
    var line = 0
    let failures = CaseRunner.failures { (_: XCTestCase) in
      line = #line + 1
      assertDeallocated(after: .zero) { () -> SendableOwner in
        let owner = SendableOwner()
        Registry.owners.withLock { $0.append(owner) }
        return owner
      }
    }
    #expect(failures.map(\.line) == [line])
    #expect(failures.first?.text.contains("UndeadXCTestTests.SendableOwner") == true)
  }

  @Test func aVariableWhoseObjectLives() {
    let failures = CaseRunner.failures { (_: XCTestCase) in
      var owner: SendableOwner? = SendableOwner()
      let other = owner
      assertDeallocated(&owner, after: .zero)
      withExtendedLifetime(other) {}
    }
    #expect(failures.count == 1)
  }
}
