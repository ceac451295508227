import Testing
import Undead

/// Records an issue if the object that the body makes and returns is still alive after it.
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
///   - comment: shown with the failure.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
///   - body: makes the object; nil is nothing to check.
/// - Throws: what the body throws.
public func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(Failure) -> Object?
) throws(Failure) {
  try Site(location: sourceLocation, comment: comment).assertDeallocated(after: grace, body)
}

/// Records an issue if the object that the asynchronous body makes and returns is still alive after it.
///
/// As the synchronous one; while it waits, other tasks run.
@_disfavoredOverload
public nonisolated(nonsending) func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Object?
) async throws(Failure) {
  try await Site(location: sourceLocation, comment: comment).assertDeallocated(after: grace, body)
}

/// Sets the variable to nil, and records an issue if its object is still alive then.
///
/// - Parameters:
///   - object: the variable. Another strong reference of the caller's keeps the object alive.
///   - grace: how long the object may take to go; only a failing check waits so long. Meanwhile the run loop of the
///     thread runs.
///   - comment: shown with the failure.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
public func assertDeallocated<Object: AnyObject>(
  _ object: inout Object?, after grace: Duration = defaultGrace, _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let tracked = object.map(TrackedObject.init)
  object = nil
  Site(location: sourceLocation, comment: comment).assertDeallocated(tracked, after: grace)
}

/// How long objects may take to go, unless an assertion says otherwise. Only a failing check waits so long.
public let defaultGrace = Duration.seconds(1)
