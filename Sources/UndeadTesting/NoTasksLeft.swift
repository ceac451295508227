import Testing
import Undead

/// Records an issue if something that the body starts has not ended soon after it.
///
/// That is: tasks, also detached ones; timers of libdispatch, and calls that `asyncAfter` is to make; blocks
/// that run on a queue; threads. What a test that runs at the same time may have started is a note only. The issue has the place where each waits, and what to do about it.
///
/// ```swift
/// await assertNoTasksLeft {
///   let model = Model()
///   await model.load()
///   model.stop()
/// }
/// ```
///
/// - Parameters:
///   - grace: how long it may take to end after the body, once no task of it waits for a thread (10 s at most). Only a
///     failing check waits so long.
///   - comment: shown with the failure.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
///   - body: the code to watch.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
@discardableResult
public func assertNoTasksLeft<Output, Failure: Error>(
  grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(location: sourceLocation, comment: comment).assertNoTasksLeft(grace: grace, body)
}

/// Records an issue if something that the asynchronous body starts has not ended soon after it; as the synchronous one.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoTasksLeft<Output, Failure: Error>(
  grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(location: sourceLocation, comment: comment).assertNoTasksLeft(grace: grace, body)
}

/// Records an issue for what a test, or any test of a suite, has started and not ended.
///
/// ```swift
/// @Test(.noTasksLeft) func pollerStops() { ... }
/// ```
public struct NoTasksLeftTrait: TestTrait, SuiteTrait, TestScoping {
  @TaskLocal private static var isRunning = false

  /// True: the trait of a suite is one of all tests in it.
  public var isRecursive: Bool { true }

  /// Runs a case of a test and checks it.
  ///
  /// - Throws: what the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    // A test with the trait in a suite with the trait needs it once.
    if Self.isRunning { return try await function() }
    let site = Site(location: test.sourceLocation)
    try await Self.$isRunning.withValue(true) {
      try await site.assertNoTasksLeft(grace: defaultGrace, function)
    }
  }
}

extension Trait where Self == NoTasksLeftTrait {
  /// Records an issue for what a test, or any test of a suite, has started and not ended.
  public static var noTasksLeft: NoTasksLeftTrait { NoTasksLeftTrait() }
}
