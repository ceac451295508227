import Testing
import Undead

/// Records an issue if the object that the body makes and returns is still alive after it.
///
/// ```swift
/// assertDeallocated { DetailViewModel(service: service) }
/// ```
///
/// - Parameter grace: how long the object may take to go. Meanwhile the run loop of the thread runs.
public func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(Failure) -> Object?
) throws(Failure) {
  try Site(location: sourceLocation, comment: comment).assertDeallocated(after: grace, body)
}

/// Records an issue if the object that the asynchronous body makes and returns is still alive after it.
@_disfavoredOverload
public func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Object?
) async throws(Failure) {
  try await Site(location: sourceLocation, comment: comment).assertDeallocated(after: grace, body)
}

/// Sets the variable to nil, and fails the running test if its object is still alive then.
///
/// - Parameter grace: how long the object may take to go. Meanwhile the run loop of the thread runs.
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
