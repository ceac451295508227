import Testing
import Undead
import UndeadReport
import UndeadSystem

/// Checks a test, or every test of a suite, for leaks when it ends.
///
/// ```swift
/// @Test(.noLeaks) func cartForgetsItsView() { ... }
///
/// @Suite(.noLeaks) struct CartTests { ... }
/// ```
///
/// Each case of a parameterised test is checked on its own, with the instance of the suite and its `init` and `deinit`.
/// Tests run in parallel: a leak is an issue of the test that made it. What no test is known to have made is reported
/// once, when the process ends. Objects given to ``trackForMemoryLeaks(_:grace:sourceLocation:)`` are checked first.
public struct NoLeaksTrait: TestTrait, SuiteTrait, TestScoping {
  var rules: [String] = []

  /// True: the trait of a suite is one of all tests in it.
  public var isRecursive: Bool { true }

  /// Runs a case of a test and checks it.
  ///
  /// - Throws: what the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // A test with the trait in a suite with the trait needs it once.
    if CheckedTest.current != nil { return try await function() }
    let checked = AllocationScope.outsideOfAll {
      CheckedTest(test, ignoring: rules + test.traits.flatMap { ($0 as? NoLeaksTrait)?.rules ?? [] })
    }
    let outcome = await Result(of: { () async throws(any Error) in
      try await CheckedTest.$current.withValue(checked) { try await checked.scope.run(function) }
    })
    await checked.finish()
    try outcome.get()
  }
}

extension Trait where Self == NoLeaksTrait {
  /// Checks a test, or every test of a suite, for leaks when it ends.
  public static var noLeaks: NoLeaksTrait { NoLeaksTrait() }

  /// Checks a test, or every test of a suite, for leaks when it ends, and leaves some out.
  ///
  /// - Parameter rules: leaks that are no issues, such as `["module:ImageCache"]`: lines as in the file `.undead.supp`,
  ///   which holds as well. Those of a suite hold for its tests, beside their own. One that makes no sense is an issue.
  public static func noLeaks(ignoring rules: [String]) -> NoLeaksTrait { NoLeaksTrait(rules: rules) }
}

/// Leaves a test, or every test of a suite, out of the checks of an outer ``NoLeaksTrait``.
public struct SkipLeakChecksTrait: TestTrait, SuiteTrait, TestScoping {
  let reason: String
  let location: SourceLocation

  /// True: the trait of a suite is one of all tests in it.
  public var isRecursive: Bool { true }

  /// Runs a case of a test without its checks.
  ///
  /// - Throws: what the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    CheckedTest.current?.skip(Site(location: location), reason)
    try await function()
  }
}

extension Trait where Self == SkipLeakChecksTrait {
  /// Leaves a test, or every test of a suite, out of the checks of an outer `.noLeaks`.
  ///
  /// - Parameters:
  ///   - reason: recorded as a warning, so that nobody takes the test for a checked one.
  ///   - sourceLocation: where the warning is recorded, by default the line of the trait.
  public static func skipLeakChecks(
    _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> SkipLeakChecksTrait {
    SkipLeakChecksTrait(reason: reason, location: sourceLocation)
  }
}
