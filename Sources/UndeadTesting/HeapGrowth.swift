import Testing
import Undead
import UndeadReport

/// Repeats a scenario, and fails the running test if objects become more each time although all of them are reachable:
/// a cache without a limit, a list that nobody empties.
///
/// - Parameters:
///   - iterations: how often the scenario is measured, at least 2.
///   - warmUp: how often it runs before that: caches fill up.
public func assertNoHeapGrowth<Failure: Error>(
  iterations: Int = 5, warmUp: Int = 2, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(Failure) -> Void
) throws(Failure) {
  let site = Site(location: sourceLocation, comment: comment)
  if let obstacle = Availability.reason {
    site.skip(obstacle)
    return try body()
  }
  var failure: Failure?
  do {
    let growths = try HeapGrowth.measure(iterations: iterations, warmUp: warmUp) {
      do throws(Failure) {
        try body()
      } catch {
        failure = error
        throw error
      }
    }
    for growth in growths { site.fail(growth.message(directory: Site.directory)) }
  } catch {
    guard let failure else { return site.skip("\(error)") }
    throw failure
  }
}

/// Repeats an asynchronous scenario, and fails the running test if objects become more each time.
@_disfavoredOverload
public func assertNoHeapGrowth<Failure: Error>(
  iterations: Int = 5, warmUp: Int = 2, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Void
) async throws(Failure) {
  let site = Site(location: sourceLocation, comment: comment)
  if let obstacle = Availability.reason {
    site.skip(obstacle)
    return try await body()
  }
  var failure: Failure?
  do {
    let growths = try await HeapGrowth.measure(iterations: iterations, warmUp: warmUp) {
      do throws(Failure) {
        try await body()
      } catch {
        failure = error
        throw error
      }
    }
    for growth in growths { site.fail(growth.message(directory: Site.directory)) }
  } catch {
    guard let failure else { return site.skip("\(error)") }
    throw failure
  }
}

/// Records an issue if more objects of a class and its subclasses are alive than there should be.
public func assertLiveObjects<Object: AnyObject>(
  of type: Object.Type, atMost limit: Int, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
  let site = Site(location: sourceLocation, comment: comment)
  if let obstacle = Availability.reason { return site.skip(obstacle) }
  do {
    let live = try LiveObjects.count(of: type, atMost: limit)
    guard live.count > limit else { return }
    site.fail(live.message(type: String(reflecting: type), limit: limit, directory: Site.directory))
  } catch {
    site.skip(error.description)
  }
}
