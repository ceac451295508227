import Testing
import UndeadTesting

/// True if an issue is a leak of the cycle.
@Sendable private func isCycle(_ issue: Issue) -> Bool {
  let text = issue.comments.map(\.rawValue).joined()
  let words = ["leak: retain cycle", "UndeadTestingTests.Owner", ".item", ".owner", "allocated  in"]
  return words.allSatisfy(text.contains)
}

@Suite(.timeLimit(.minutes(20))) struct NoLeaksTests {
  @Test func aCycleIsAnIssueAtTheLineOfTheAssertion() {
    let line = #line + 2
    withKnownIssue {
      assertNoLeaks { makeCycle() }
    } matching: {
      isCycle($0) && $0.sourceLocation?.line == line
    }
  }

  @Test func asynchronousBodies() async {
    await withKnownIssue {
      await assertNoLeaks {
        await Task.yield()
        makeCycle()
      }
    } matching: {
      isCycle($0)
    }
  }

  @Test func whatDiesOrIsReachableIsNoLeak() async {
    assertNoLeaks { _ = Owner() }
    assertNoLeaks { Registry.owners.withLock { $0.append(SendableOwner()) } }
    await assertNoLeaks {
      let owner = Owner()
      await Task.yield()
      withExtendedLifetime(owner) {}
    }
  }

  @Test func theInnermostAssertionReports() {
    let line = #line + 3
    withKnownIssue {
      assertNoLeaks {
        assertNoLeaks { makeCycle() }
      }
    } matching: {
      isCycle($0) && $0.sourceLocation?.line == line
    }
  }

  @Test func aBodyThatThrowsIsCheckedToo() {
    struct Stop: Error {}
    withKnownIssue {
      #expect(throws: Stop.self) {
        try assertNoLeaks {
          makeCycle()
          throw Stop()
        }
      }
    } matching: {
      isCycle($0)
    }
  }

  @Test(arguments: ["type:UndeadTestingTests.Item", "field:^UndeadTestingTests.Item.owner$", "leak:makeCycle  # why"])
  func whatIsIgnoredIsNoIssue(rule: String) async {
    assertNoLeaks(ignoring: [rule]) { makeCycle() }
    await assertNoLeaks("of the cart", ignoring: ["type:Nothing", rule]) {
      await Task.yield()
      makeCycle()
    }
  }

  @Test func whatIsNotIgnoredIsAnIssue() {
    withKnownIssue {
      assertNoLeaks(ignoring: ["type:OtherItem"]) { makeCycle() }
    } matching: {
      isCycle($0)
    }
  }

  @Test func aRuleThatMakesNoSenseIsAnIssue() {
    withKnownIssue {
      assertNoLeaks(ignoring: ["UndeadTestingTests"]) { _ = Owner() }
    } matching: {
      $0.comments.first?.rawValue.contains("a rule after `ignoring` has no effect: \"UndeadTestingTests\"") == true
    }
  }

  @Test func anExpectedLeakIsNoIssue() {
    assertNoLeaks { expectLeak("on purpose") { makeCycle() } }
  }

  @Test func anExpectedLeakThatIsNotThereIsAnIssue() {
    withKnownIssue {
      expectLeak("on purpose") { _ = Owner() }
    } matching: {
      $0.comments.contains("nothing leaked, but a leak was expected: on purpose")
    }
  }

  @Test(arguments: 0..<16) func testsThatRunAtTheSameTimeDoNotMixUpTheirLeaks(number: Int) async {
    if number.isMultiple(of: 2) {
      await withKnownIssue {
        await assertNoLeaks {
          makeCycle()
          await Task.yield()
        }
      } matching: {
        isCycle($0)
      }
    } else {
      await assertNoLeaks {
        _ = Owner()
        await Task.yield()
      }
    }
  }
}
