import Synchronization
import Testing
import UndeadTesting

/// Runs what the trait does around a test.
private func withTrait(
  _ trait: NoLeaksTrait = .noLeaks, _ body: @escaping @Sendable () async throws -> Void
) async throws {
  let test = try #require(Test.current)
  try await trait.provideScope(for: test, testCase: Test.Case.current, performing: body)
}

@Suite(.timeLimit(.minutes(20))) struct NoLeaksTraitTests {
  @Test func aLeakIsAnIssueAtTheTest() async throws {
    let line = #line - 1
    try await withKnownIssue {
      try await withTrait { makeCycle() }
    } matching: {
      $0.comments.first?.rawValue.contains("leak: retain cycle of UndeadTestingTests.Owner") == true
        && $0.sourceLocation?.line == line
    }
  }

  @Test func whatIsIgnoredIsNoIssue() async throws {
    try await withTrait(.noLeaks(ignoring: ["type:UndeadTestingTests.Item"])) { makeCycle() }
  }

  /// Each test has the rules of its own trait, and those of the suites around it.
  @Suite(.noLeaks(ignoring: ["type:UndeadTestingTests.Item"])) struct IgnoringTests {
    @Test func thoseOfTheSuite() { makeCycle() }

    @Test(.noLeaks(ignoring: ["type:Nothing"])) func thoseOfBoth() { makeCycle() }
  }

  @Suite(.noLeaks) struct IgnoringTestTests {
    @Test(.noLeaks(ignoring: ["type:UndeadTestingTests.Item"])) func thoseOfTheTest() { makeCycle() }
  }

  @Test func aTrackedObjectIsAnIssueAtTheCall() async throws {
    let line = #line + 4
    try await withKnownIssue {
      try await withTrait {
        let owner = SendableOwner()
        trackForMemoryLeaks(owner, grace: .zero)
        Registry.owners.withLock { $0.append(owner) }
      }
    } matching: {
      $0.comments.first?.rawValue.contains("UndeadTestingTests.SendableOwner") == true
        && $0.sourceLocation?.line == line
    }
  }

  @Test func oneLeakIsOneIssue() async throws {
    let count = Mutex(0)
    try await withKnownIssue {
      try await withTrait {
        let owner = Owner()
        trackForMemoryLeaks(owner, grace: .zero)
        owner.item = Item()
        owner.item?.owner = owner
      }
    } matching: { _ in
      count.withLock { $0 += 1 }
      return true
    }
    #expect(count.withLock { $0 } == 1)
  }

  @Test func aTestThatThrowsIsCheckedToo() async {
    struct Stop: Error {}
    await withKnownIssue {
      await #expect(throws: Stop.self) {
        try await withTrait {
          makeCycle()
          throw Stop()
        }
      }
    }
  }

  @Test func aTestThatIsLeftOut() async throws {
    try await withKnownIssue {
      try await withTrait {
        let test = try #require(Test.current)
        try await SkipLeakChecksTrait.skipLeakChecks("known").provideScope(for: test, testCase: Test.Case.current) {
          makeCycle()
        }
      }
    } matching: {
      $0.comments.contains("not checked for leaks: known")
    }
  }

  @Test func onlyCasesAreChecked() throws {
    let test = try #require(Test.current)
    #expect(NoLeaksTrait.noLeaks.scopeProvider(for: test, testCase: nil) == nil)
    #expect(NoLeaksTrait.noLeaks.scopeProvider(for: test, testCase: Test.Case.current) != nil)
  }
}

@Suite(.noLeaks) struct CheckedSuite {
  private let owner = Owner()

  @Test func instanceOfTheSuite() { trackForMemoryLeaks(owner) }
  @Test(arguments: 0..<4) func cases(number: Int) async { await Task.yield() }
  @Test(.noLeaks) func twice() { _ = Owner() }
}
