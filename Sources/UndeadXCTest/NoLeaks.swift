import Undead
import XCTest

/// Fails the running test if objects that the body makes can never be released any more.
///
/// A leak fails the test at this line, with the type, the cycle or path in field names, and the place of the
/// allocation. What the body makes and something still refers to is no leak; use
/// `trackForMemoryLeaks(_:)` or ``assertDeallocated(after:_:file:line:_:)-88gt1`` for
/// objects that must be gone. An object that only a timer, dispatch source, observer registration or task holds, and
/// that holds that thing itself, is a warning on standard error.
///
/// The check is made even if the body throws. Assertions may be nested and made on several threads at once; each leak
/// is reported by one of them, the innermost. If nothing can be checked (a sanitizer build, `UNDEAD=0`), the body runs,
/// and a note on standard error says that it was not checked.
///
/// - Parameters:
///   - message: shown with the failure.
///   - rules: leaks that are not reported, such as `["module:ImageCache"]`: lines as in the file `.undead.supp`, which
///     holds as well. One that makes no sense is a failure.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
///   - body: the code to check.
/// - Returns: what the body returns; it is alive during the check.
/// - Throws: what the body throws.
@discardableResult @_disfavoredOverload
public func assertNoLeaks<Output, Failure: Error>(
  _ message: @autoclosure () -> String = "", ignoring rules: [String] = [], file: StaticString = #filePath,
  line: UInt = #line, _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(file: file, line: line, message: message()).assertNoLeaks(ignoring: rules, body)
}

/// Fails the running test if objects that the asynchronous body makes can never be released any more.
///
/// As the synchronous one; what tasks of the body make belongs to it, detached ones too.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoLeaks<Output, Failure: Error>(
  _ message: @autoclosure () -> String = "", ignoring rules: [String] = [], file: StaticString = #filePath,
  line: UInt = #line, _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(file: file, line: line, message: message()).assertNoLeaks(ignoring: rules, body)
}

/// Fails the running test unless the body leaks: for a leak that is known and cannot be fixed now.
///
/// The leaks are not reported by any other check. The test fails as soon as the leak is fixed, so that this does not
/// stay behind.
///
/// - Parameters:
///   - reason: why the leak is there, as the failure will say it.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
///   - body: the code that leaks.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
@discardableResult @_disfavoredOverload
public func expectLeak<Output, Failure: Error>(
  _ reason: String, file: StaticString = #filePath, line: UInt = #line, _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(file: file, line: line).expectLeak(reason, body)
}

/// Fails the running test unless the asynchronous body leaks.
///
/// As the synchronous one.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func expectLeak<Output, Failure: Error>(
  _ reason: String, file: StaticString = #filePath, line: UInt = #line,
  _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(file: file, line: line).expectLeak(reason, body)
}
