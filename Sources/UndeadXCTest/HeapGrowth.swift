import Undead
import XCTest

/// Repeats a scenario, and fails the running test if objects become more each time although all of them are reachable:
/// a cache without a limit, a list that nobody empties.
///
/// After the growth detection of LeakCanary. An object counts for the repetition in which it was made. May be called on
/// any thread.
///
/// - Parameters:
///   - iterations: how often the scenario is measured, from 2 to 64.
///   - warmUp: how often it runs before that: caches fill up.
///   - message: shown with the failure.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
///   - body: the scenario.
/// - Throws: what the body throws, which ends the repetitions.
@_disfavoredOverload
public func assertNoHeapGrowth<Failure: Error>(
  iterations: Int = 5, warmUp: Int = 2, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () throws(Failure) -> Void
) throws(Failure) {
  try Site(file: file, line: line, message: message())
    .assertNoHeapGrowth(iterations: iterations, warmUp: warmUp, body)
}

/// Repeats an asynchronous scenario, and fails the running test if objects become more each time.
///
/// As the synchronous one.
@_disfavoredOverload
public nonisolated(nonsending) func assertNoHeapGrowth<Failure: Error>(
  iterations: Int = 5, warmUp: Int = 2, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line, _ body: () async throws(Failure) -> Void
) async throws(Failure) {
  try await Site(file: file, line: line, message: message())
    .assertNoHeapGrowth(iterations: iterations, warmUp: warmUp, body)
}

/// Fails the running test if more objects of a class and its subclasses are alive than there should be.
///
/// All objects of the process count that were allocated since recording began. May be called on any thread.
///
/// - Parameters:
///   - type: the class.
///   - limit: how many objects may be alive.
///   - message: shown with the failure.
///   - file: file of the failure, by default that of the call.
///   - line: line of the failure, by default that of the call.
@_disfavoredOverload
public func assertLiveObjects<Object: AnyObject>(
  of type: Object.Type, atMost limit: Int, _ message: @autoclosure () -> String = "", file: StaticString = #filePath,
  line: UInt = #line
) {
  Site(file: file, line: line, message: message()).assertLiveObjects(of: type, atMost: limit)
}
