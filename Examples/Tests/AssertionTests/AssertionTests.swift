import App
import Testing
import UndeadTesting

/// The scenarios as tests of a package: what the tool reports of a program, an assertion reports of a test.
@Suite struct AssertionTests {
  @Test(arguments: Scenario.all.filter(\.isLeak))
  func aLeakFailsTheTest(_ scenario: Scenario) async throws {
    guard case .leak(_, let type, let fields) = scenario.verdict else { return }
    // What a thread leaks while other tests run is told at the end of the run, and a stale word can hide a leak.
    try await withKnownIssue(isIntermittent: true) {
      try await assertNoLeaks { try await scenario.run() }
    } matching: { issue in
      let text = issue.comments.map(\.rawValue).joined()
      return text.contains(type) && fields.allSatisfy(text.contains)
    }
  }

  /// A suspect is reachable: it is a warning, and a failure only where the test says that it must be gone.
  @Test(arguments: Scenario.all.filter(\.isSuspect))
  func aSuspectIsAWarning(_ scenario: Scenario) async throws {
    guard case .suspect(_, let type) = scenario.verdict else { return }
    try await withKnownIssue(isIntermittent: true) {
      try await assertNoLeaks { try await scenario.run() }
    } matching: { issue in
      !issue.isFailure && issue.comments.contains { $0.rawValue.contains(type) }
    }
  }

  @Test(.noLeaks, arguments: Scenario.all.filter { $0.verdict == .clean })
  func whatIsAliveOnPurposeFailsNothing(_ scenario: Scenario) async throws {
    try await scenario.run()
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
