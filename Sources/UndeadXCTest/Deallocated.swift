import Undead
import UndeadReport
import XCTest

/// Fails the running test if the object that the body makes and returns is still alive after it.
///
/// ```swift
/// assertDeallocated { DetailViewModel(service: service) }
/// ```
///
/// - Parameter grace: how long the object may take to go. Meanwhile the run loop of the thread runs.
public func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () throws(Failure) -> Object?
) throws(Failure) {
  let site = Site(file: file, line: line, message: message())
  let object = try track(body)
  TrackedCheck(site).finish(object, grace)
}

/// Fails the running test if the object that the asynchronous body makes and returns is still alive after it.
@_disfavoredOverload
public func assertDeallocated<Object: AnyObject, Failure: Error>(
  after grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Object?
) async throws(Failure) {
  let site = Site(file: file, line: line, message: message())
  let object = try await track(body)
  await TrackedCheck(site).finish(object, grace)
}

/// Sets the variable to nil, and fails the running test if its object is still alive then.
///
/// - Parameter grace: how long the object may take to go. Meanwhile the run loop of the thread runs.
public func assertDeallocated<Object: AnyObject>(
  _ object: inout Object?, after grace: Duration = defaultGrace, _ message: @autoclosure () -> String = "",
  file: StaticString = #filePath, line: UInt = #line
) {
  let tracked = object.map(TrackedObject.init)
  object = nil
  TrackedCheck(Site(file: file, line: line, message: message())).finish(tracked, grace)
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
