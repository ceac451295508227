import App
import Synchronization
import Testing
import UndeadTesting

/// The scenarios as tests of a package: what the tool reports of a program, an assertion reports of a test.
///
/// One at a time: what a thread of a scenario makes belongs to a test only if no other one runs beside it.
@Suite(.serialized, .timeLimit(.minutes(20))) struct AssertionTests {
  @Test(arguments: Scenario.all.filter(\.isLeak))
  func aLeakFailsTheTest(_ scenario: Scenario) async throws {
    guard case .leak(_, let type, let fields) = scenario.verdict else { return }
    #expect(
      try await isReported(scenario) { issue in
        let text = issue.comments.map(\.rawValue).joined()
        return issue.isFailure && text.contains(type) && fields.allSatisfy(text.contains)
      })
  }

  /// A suspect is reachable: it is a warning, and a failure only where the test says that it must be gone.
  @Test(arguments: Scenario.all.filter(\.isSuspect))
  func aSuspectIsAWarning(_ scenario: Scenario) async throws {
    guard case .suspect(_, let type) = scenario.verdict else { return }
    #expect(
      try await isReported(scenario) { issue in
        !issue.isFailure && issue.comments.contains { $0.rawValue.contains(type) }
      })
  }

  @Test(.noLeaks, arguments: Scenario.all.filter { $0.verdict == .clean })
  func whatIsAliveOnPurposeFailsNothing(_ scenario: Scenario) async throws {
    try await scenario.run()
  }

  /// Whether a scenario records an issue, and no other ones.
  private func isReported(
    _ scenario: Scenario, as isExpected: @escaping @Sendable (Issue) -> Bool
  ) async throws -> Bool {
    let isReported = Mutex(false)
    try await withKnownIssue {
      try await assertNoLeaks { try await scenario.run() }
    } matching: { issue in
      guard isExpected(issue) else { return false }
      isReported.withLock { $0 = true }
      return true
    }
    return isReported.withLock { $0 }
  }
}

extension Scenario {
  fileprivate var isLeak: Bool {
    if case .leak = verdict { true } else { false }
  }

  fileprivate var isSuspect: Bool {
    if case .suspect = verdict { true } else { false }
  }
}
