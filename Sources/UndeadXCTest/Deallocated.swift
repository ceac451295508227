import Undead
import XCTest

/// Fails the running test if the object that the body makes and returns is still alive after it.
///
/// ```swift
/// assertDeallocated { DetailViewModel(service: service) }
/// ```
///
/// May be called on any thread. If the body throws, nothing is checked.
///
/// - Parameters:
///   - grace: how long the object may take to go; only a failing check waits so long. Meanwhile the run loop of the
///     thread runs.
///   - message: shown with the failure.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
///   - body: makes the object; nil is nothing to check.
/// - Throws: what the body throws.
@_disfavoredOverload
public func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () throws(Failure) -> Object?
) throws(Failure) {
  try Site(file: file, line: line, message: message()).assertDeallocated(after: grace, body)
}

/// Fails the running test if the object that the asynchronous body makes and returns is still alive after it.
///
/// As the synchronous one; while it waits, other tasks run.
@_disfavoredOverload
public nonisolated(nonsending) func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () async throws(Failure) -> Object?
) async throws(Failure) {
  try await Site(file: file, line: line, message: message()).assertDeallocated(after: grace, body)
}

/// Sets the variable to nil, and fails the running test if its object is still alive then.
///
/// - Parameters:
///   - object: the variable. Another strong reference of the caller's keeps the object alive.
///   - grace: how long the object may take to go; only a failing check waits so long. Meanwhile the run loop of the
///     thread runs.
///   - message: shown with the failure.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
@_disfavoredOverload
public func assertDeallocated<Object: AnyObject>(
  _ object: inout Object?, after grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "",
  file: StaticString = #filePath, line: UInt = #line
) {
  let tracked = object.map(TrackedObject.init)
  object = nil
  Site(file: file, line: line, message: message()).assertDeallocated(tracked, after: grace)
}

/// How long objects may take to go, unless an assertion says otherwise. Only a failing check waits so long.
@_disfavoredOverload
public let defaultGrace = Duration.seconds(1)
