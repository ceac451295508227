import Undead
import XCTest

/// Fails the running test if the body uses an object that has died.
///
/// ```swift
/// assertNoZombies { poller.stop() }
/// ```
///
/// A message, retain, release, cast, field or closure of a dead object fails the test at this line, with the method or
/// field, the type, and the places of the use, the death and the allocation; then the body goes on as well as it can. A
/// safe `unowned` reference to a dead object ends the process, as always.
///
/// What is used on threads that belong to no assertion fails all running ones. Only objects that die while an assertion
/// runs are known, unless `ZombieSniffer` runs already. If nothing can be seen (a sanitizer build, `UNDEAD=0`), the
/// body runs, and a note on standard error says that it was not checked.
///
/// - Parameters:
///   - message: shown with the failure.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
///   - body: the code to watch.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
@discardableResult @_disfavoredOverload
public func assertNoZombies<Output, Failure: Error>(
  _ message: @autoclosure () -> String = "", file: StaticString = #filePath, line: UInt = #line,
  _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(file: file, line: line, message: message()).assertNoZombies(body)
}

/// Fails the running test if the asynchronous body uses an object that has died; as the synchronous one.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoZombies<Output, Failure: Error>(
  _ message: @autoclosure () -> String = "", file: StaticString = #filePath, line: UInt = #line,
  _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(file: file, line: line, message: message()).assertNoZombies(body)
}
