import Testing
import Undead

/// Records an issue if the body uses an object that has died.
///
/// A message, retain, release, cast, field or closure of a dead object is an issue at this line, with the method or
/// field, the type, and the places of the use, the death and the allocation; then the body goes on as well as it can. A
/// safe `unowned` reference to a dead object ends the process, as always.
///
/// Tests run in parallel: a use belongs to the assertion in whose body, or task of it, it happened; one on another
/// thread is an issue of all running assertions. Only objects that die while an assertion runs are known, unless
/// `ZombieSniffer` runs already.
///
/// - Parameters:
///   - comment: shown with the failure.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
///   - body: the code to watch.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
@discardableResult
public func assertNoZombies<Output, Failure: Error>(
  _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(location: sourceLocation, comment: comment).assertNoZombies(body)
}

/// Records an issue if the asynchronous body uses an object that has died; as the synchronous one.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoZombies<Output, Failure: Error>(
  _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(location: sourceLocation, comment: comment).assertNoZombies(body)
}

/// Records an issue for each use of a dead object in a test, or in every test of a suite.
///
/// ```swift
/// @Test(.noZombies) func pollerStops() { ... }
/// ```
public struct NoZombiesTrait: TestTrait, SuiteTrait, TestScoping {
  @TaskLocal private static var isRunning = false

  /// True: the trait of a suite is one of all tests in it.
  public var isRecursive: Bool { true }

  /// Runs a case of a test and watches it.
  ///
  /// - Throws: what the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // A test with the trait in a suite with the trait needs it once.
    if Self.isRunning { return try await function() }
    let site = Site(location: test.sourceLocation)
    try await Self.$isRunning.withValue(true) { try await site.assertNoZombies(function) }
  }
}

extension Trait where Self == NoZombiesTrait {
  /// Records an issue for each use of a dead object in a test, or in every test of a suite.
  public static var noZombies: NoZombiesTrait { NoZombiesTrait() }
}
