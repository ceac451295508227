import Testing
import Undead

/// Repeats a scenario, and records an issue if objects become more each time although all of them are reachable:
/// a cache without a limit, a list that nobody empties.
///
/// After the growth detection of LeakCanary. An object counts for the repetition in which it was made. May be called on
/// any thread.
///
/// - Parameters:
///   - iterations: how often the scenario is measured, from 2 to 64.
///   - warmUp: how often it runs before that: caches fill up.
///   - comment: shown with the failure.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
///   - body: the scenario.
/// - Throws: what the body throws, which ends the repetitions.
public func assertNoHeapGrowth<Failure: Error>(
  iterations: Int = 5, warmUp: Int = 2, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(Failure) -> Void
) throws(Failure) {
  try Site(location: sourceLocation, comment: comment)
    .assertNoHeapGrowth(iterations: iterations, warmUp: warmUp, body)
}

/// Repeats an asynchronous scenario, and records an issue if objects become more each time.
///
/// As the synchronous one.
@_disfavoredOverload
public nonisolated(nonsending) func assertNoHeapGrowth<Failure: Error>(
  iterations: Int = 5, warmUp: Int = 2, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws(Failure) -> Void
) async throws(Failure) {
  try await Site(location: sourceLocation, comment: comment)
    .assertNoHeapGrowth(iterations: iterations, warmUp: warmUp, body)
}

/// Records an issue if more objects of a class and its subclasses are alive than there should be.
///
/// All objects of the process count that were allocated since recording began. May be called on any thread.
///
/// - Parameters:
///   - type: the class.
///   - limit: how many objects may be alive.
///   - comment: shown with the failure.
///   - sourceLocation: where the failure is recorded, by default the line of the call.
public func assertLiveObjects<Object: AnyObject>(
  of type: Object.Type, atMost limit: Int, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
  Site(location: sourceLocation, comment: comment).assertLiveObjects(of: type, atMost: limit)
}
