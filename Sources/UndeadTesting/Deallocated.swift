import Testing
import Undead
import UndeadReport

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
  let site = Site(location: sourceLocation, comment: comment)
  let object = try track(body)
  TrackedCheck(site).finish(object, grace)
}

/// Records an issue if the object that the asynchronous body makes and returns is still alive after it.
@_disfavoredOverload
public func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Object?
) async throws(Failure) {
  let site = Site(location: sourceLocation, comment: comment)
  let object = try await track(body)
  await TrackedCheck(site).finish(object, grace)
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
  TrackedCheck(Site(location: sourceLocation, comment: comment)).finish(tracked, grace)
}

/// How long objects may take to go, unless an assertion says otherwise. Only a failing check waits so long.
public let defaultGrace = Duration.seconds(1)

// The object must not live in a frame of the caller: it is gone when these functions have returned.
@inline(never)
private func track<Object: AnyObject, Failure: Error>(
  _ body: () throws(Failure) -> Object?
) throws(Failure) -> TrackedObject? {
  try body().map(TrackedObject.init)
}

@inline(never)
private func track<Object: AnyObject, Failure: Error>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Object?
) async throws(Failure) -> TrackedObject? {
  try await body().map(TrackedObject.init)
}

/// Checks an object that must be gone.
private struct TrackedCheck {
  let site: Site

  init(_ site: Site) {
    self.site = site
  }

  func finish(_ object: TrackedObject?, _ grace: Duration) {
    guard let object, object.isAlive else { return }
    if let obstacle = Availability.reason { return site.skip(obstacle) }
    tell(TrackedObject.check([object], name: name, grace: grace))
  }

  func finish(_ object: TrackedObject?, _ grace: Duration, isolation: isolated (any Actor)? = #isolation) async {
    guard let object, object.isAlive else { return }
    if let obstacle = Availability.reason { return site.skip(obstacle) }
    tell(await TrackedObject.check([object], name: name, grace: grace))
  }

  private var name: String { "assertDeallocated" }

  private func tell(_ result: TrackingResult) {
    for survivor in result.survivors { site.fail(result.message(survivor, directory: Site.directory)) }
  }
}
