import Testing
import UndeadTesting

@Suite(.timeLimit(.minutes(20))) struct DeallocatedTests {
  @Test func anObjectThatDies() async {
    assertDeallocated { Owner() }
    var owner: Owner? = Owner()
    assertDeallocated(&owner)
    #expect(owner == nil)
    await assertDeallocated { () async -> Owner in
      await Task.yield()
      return Owner()
    }
  }

  @Test func anObjectThatLives() {
    let line = #line + 2
    withKnownIssue {
      assertDeallocated(after: .zero) { () -> SendableOwner in
        let owner = SendableOwner()
        Registry.owners.withLock { $0.append(owner) }
        return owner
      }
    } matching: {
      $0.comments.first?.rawValue.contains("UndeadTestingTests.SendableOwner") == true
        && $0.sourceLocation?.line == line
    }
  }
}
