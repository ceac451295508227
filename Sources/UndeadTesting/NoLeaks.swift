import Testing
import Undead

/// Records an issue if objects that the body makes can never be released any more.
///
/// A leak fails the test at this line, with the type, the cycle or path in field names, and the place of the
/// allocation. What the body makes and something still refers to is no leak; use
/// ``trackForMemoryLeaks(_:grace:sourceLocation:)`` or ``assertDeallocated(after:_:sourceLocation:_:)-81a3a`` for objects
/// that must be gone. An object that only a timer, dispatch source, observer registration or task holds, and that holds
/// that thing itself, is a warning.
///
/// The check is made even if the body throws. Assertions may be nested and made on several threads at once; each leak
/// is reported by one of them, the innermost. If nothing can be checked (a sanitizer build, `UNDEAD=0`), the body runs,
/// and a warning says that it was not checked.
///
/// - Parameters:
///   - comment: shown with the failure.
///   - rules: leaks that are not reported, such as `["module:ImageCache"]`: lines as in the file `.undead.supp`, which
///     holds as well. One that makes no sense is an issue.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
///   - body: the code to check.
/// - Returns: what the body returns; it is alive during the check.
/// - Throws: what the body throws.
@discardableResult
public func assertNoLeaks<Output, Failure: Error>(
  _ comment: Comment? = nil, ignoring rules: [String] = [], sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(location: sourceLocation, comment: comment).assertNoLeaks(ignoring: rules, body)
}

/// Records an issue if objects that the asynchronous body makes can never be released any more.
///
/// As the synchronous one; what tasks of the body make belongs to it, detached ones too.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoLeaks<Output, Failure: Error>(
  _ comment: Comment? = nil, ignoring rules: [String] = [], sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(location: sourceLocation, comment: comment).assertNoLeaks(ignoring: rules, body)
}

/// Records an issue unless the body leaks: for a leak that is known and cannot be fixed now.
///
/// The leaks are not reported by any other check. The test fails as soon as the leak is fixed, so that this does not
/// stay behind.
///
/// - Parameters:
///   - reason: why the leak is there, as the failure will say it.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
///   - body: the code that leaks.
/// - Returns: what the body returns.
/// - Throws: what the body throws.
@discardableResult
public func expectLeak<Output, Failure: Error>(
  _ reason: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws(Failure) -> Output
) throws(Failure) -> Output {
  try Site(location: sourceLocation).expectLeak(reason, body)
}

/// Records an issue unless the asynchronous body leaks.
///
/// As the synchronous one.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func expectLeak<Output, Failure: Error>(
  _ reason: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(location: sourceLocation).expectLeak(reason, body)
}
