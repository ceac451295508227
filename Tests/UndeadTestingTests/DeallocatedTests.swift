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

  /// The frame of the test still has a word of the object, which owns nothing.
  @Test func aVariableOfAnAsynchronousTestWhoseObjectIsInACycle() async {
    await withKnownIssue {
      var owner: Owner? = Owner()
      let item = Item()
      owner?.item = item
      item.owner = owner
      await Task.yield()
      assertDeallocated(&owner, after: .zero)
      await Task.yield()
      withExtendedLifetime(item) {}
    } matching: {
      $0.comments.first?.rawValue.contains(".owner \u{2192} UndeadTestingTests.Owner  \u{21BA}") == true
    }
  }
}
