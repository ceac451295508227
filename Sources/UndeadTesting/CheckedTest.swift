import Synchronization
import Testing
import Undead
import UndeadReport

/// A test case that is checked when it ends.
final class CheckedTest: Sendable {
  @TaskLocal static var current: CheckedTest?

  struct Tracked: Sendable {
    var site: Site
    var object: TrackedObject
    var grace: Duration
  }

  private struct State {
    var objects: [Tracked] = []
    var skipped: (site: Site, reason: String)?
  }

  let scope: AllocationScope
  private let site: Site
  private let name: String
  private let obstacle: String?
  private let state = Mutex(State())

  init(_ test: Test) {
    name = test.name
    site = Site(location: test.sourceLocation)
    obstacle = Availability.reason
    scope = AllocationScope(test.name)
    ProcessEnd.expectTests()
  }

  func track(_ tracked: Tracked) {
    state.withLock { $0.objects.append(tracked) }
  }

  func skip(_ site: Site, _ reason: String) {
    state.withLock { $0.skipped = (site, reason) }
  }

  func finish() async {
    let (objects, skipped) = state.withLock { ($0.objects, $0.skipped) }
    if let skipped { return skipped.site.skip(skipped.reason) }
    await check(objects)
    if let obstacle { return site.skip(obstacle) }
    do { site.tell(try await scope.check()) } catch { site.skip(error.description) }
  }

  private func check(_ objects: [Tracked]) async {
    let alive = objects.filter(\.object.isAlive)
    guard let grace = alive.map(\.grace).max() else { return }
    if let obstacle {
      for tracked in alive { tracked.site.skip(obstacle) }
      return
    }
    let result = await TrackedObject.check(alive.map(\.object), name: name, grace: grace)
    for survivor in result.survivors {
      alive[survivor.index].site.fail(result.message(survivor, directory: Site.directory))
    }
  }
}

/// Fails the test if the object is still alive when the test has ended.
///
/// ```swift
/// @Test(.noLeaks) func cart() {
///   let model = CartModel(store: store)
///   trackForMemoryLeaks(model)
/// }
/// ```
///
/// With the trait `.noLeaks` on the test or its suite the check is made when the test case ends, and the issue is one of the
/// test, at this line. Without it there is no moment in Swift Testing to check at: then objects that are alive when the
/// process ends are told on standard error, and the process ends with status 1.
///
/// - Parameters:
///   - object: the object; nil is not tracked. It is never kept alive.
///   - grace: how long the object may take to go after the end of the test. Only a failing check waits so long.
public func trackForMemoryLeaks(
  _ object: AnyObject?, grace: Duration = defaultGrace, sourceLocation: SourceLocation = #_sourceLocation
) {
  guard let object else { return }
  let tracked = CheckedTest.Tracked(
    site: Site(location: sourceLocation), object: TrackedObject(object), grace: grace)
  if let test = CheckedTest.current {
    test.track(tracked)
  } else {
    ProcessEnd.track(tracked, inTest: Test.current?.name)
  }
}
