import Testing
import Undead

// For files that import UndeadXCTest, too, whose functions take a text: a literal is one at once, and becomes a `Comment` only
// if nothing else fits. Where nothing waits, those of UndeadXCTest are disfavored; asynchronous ones are in both libraries.

/// Records an issue if objects that the asynchronous body makes can never be released any more; the comment is a text.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoLeaks<Output, Failure: Error>(
  _ comment: String, ignoring rules: [String] = [], sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(location: sourceLocation, comment: Comment(rawValue: comment)).assertNoLeaks(ignoring: rules, body)
}

/// Records an issue if the object that the asynchronous body makes is still alive after it; the comment is a text.
@_disfavoredOverload
public nonisolated(nonsending) func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ comment: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Object?
) async throws(Failure) {
  try await Site(location: sourceLocation, comment: Comment(rawValue: comment)).assertDeallocated(after: grace, body)
}

/// Repeats an asynchronous scenario, and records an issue if objects become more each time; the comment is a text.
@_disfavoredOverload
public nonisolated(nonsending) func assertNoHeapGrowth<Failure: Error>(
  iterations: Int = 5, warmUp: Int = 2, _ comment: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Void
) async throws(Failure) {
  try await Site(location: sourceLocation, comment: Comment(rawValue: comment))
    .assertNoHeapGrowth(iterations: iterations, warmUp: warmUp, body)
}

/// Records an issue if the asynchronous body uses an object that has died; the comment is a text.
@discardableResult @_disfavoredOverload
public nonisolated(nonsending) func assertNoZombies<Output, Failure: Error>(
  _ comment: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  try await Site(location: sourceLocation, comment: Comment(rawValue: comment)).assertNoZombies(body)
}
