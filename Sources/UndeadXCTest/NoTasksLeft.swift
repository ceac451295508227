import Undead
import XCTest

/// Fails the running test if something that the body starts has not ended soon after it.
///
/// ```swift
/// assertNoTasksLeft { model.load(); model.stop() }
/// ```
///
/// That is: tasks, also detached ones; timers of libdispatch, and calls that `asyncAfter` is to make; blocks
/// that run on a queue; threads, if no other check runs at the same time. The failure has the place where each waits, and what to do about it.
///
/// - Parameters:
///   - grace: how long it may take to end after the body, once no task of it waits for a thread (10 s at most). Only a
///     failing check waits so long; it runs the run loop.
///   - message: shown with the failure.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
///   - body: the code to watch.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
@discardableResult @_disfavoredOverload
public func assertNoTasksLeft<Output, Failure: Error>(
  grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(file: file, line: line, message: message()).assertNoTasksLeft(grace: grace, body)
}

/// Fails the running test if something that the asynchronous body starts has not ended soon after it; as the synchronous
/// one.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoTasksLeft<Output, Failure: Error>(
  grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(file: file, line: line, message: message()).assertNoTasksLeft(grace: grace, body)
}
