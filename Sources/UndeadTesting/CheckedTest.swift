import Testing
import Undead
import UndeadReport
import UndeadSystem

/// A test case that is checked when it ends.
final class CheckedTest: Sendable {
  @TaskLocal static var current: CheckedTest?

  private struct State {
    var objects: [TrackingAssertion<Site>] = []
    var skipped: (site: Site, reason: String)?
  }

  let scope: AllocationScope
  private let site: Site
  private let name: String
  private let obstacle: String?
  private let options: ReportOptions
  private let state = Mutex(State())

  /// - Parameter rules: what is left out.
  init(_ test: Test, ignoring rules: [String]) {
    name = test.name
    site = Site(location: test.sourceLocation)
    obstacle = Availability.reason
    options = site.options(ignoring: rules)
    scope = AllocationScope(test.name, function: test.function, in: site.session)
    scope.session.end.expect(scope, at: site.place, test: test.name, options: options)
  }

  func track(_ assertion: TrackingAssertion<Site>) {
    state.withLock { $0.objects.append(assertion) }
  }

  func skip(_ site: Site, _ reason: String) {
    state.withLock { $0.skipped = (site, reason) }
  }

  func finish() async {
    let (objects, skipped) = state.withLock { ($0.objects, $0.skipped) }
    if let skipped {
      scope.exclude()
      return skipped.site.skip(skipped.reason)
    }
    await TrackingAssertion.check(objects, name: name)
    if let obstacle { return site.skip(obstacle) }
    await site.tellLeaks(of: scope, options: options)
  }
}

extension Test {
  /// The function with its module and types, as in the symbols of the program; nil for a suite.
  fileprivate var function: String? {
    let place = "/\(sourceLocation.fileName):\(sourceLocation.line):\(sourceLocation.column)"
    let path = String(describing: id)
    guard path.hasSuffix(name + place) else { return nil }
    // Only the name of the function may have a slash in it.
    return path.dropLast(name.count + place.count).replacing("/", with: ".") + name
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
/// With the trait `.noLeaks` on the test or its suite the check is made when the test case ends, and the issue is one
/// of the test, at this line. Without it there is no moment in Swift Testing to check at: then objects that are alive
/// when the process ends are reported on standard error, and the process ends with status 1.
///
/// - Parameters:
///   - object: the object; nil is not tracked. It is never kept alive.
///   - grace: how long the object may take to go after the end of the test. Only a failing check waits so long.
///   - sourceLocation: where the issue is recorded, by default the line of the call.
public func trackForMemoryLeaks(
  _ object: AnyObject?, grace: Duration = defaultGrace, sourceLocation: SourceLocation = #_sourceLocation
) {
  guard let object else { return }
  let site = Site(location: sourceLocation)
  let tracked = TrackedObject(object)
  if let test = CheckedTest.current {
    test.track(TrackingAssertion(site: site, object: tracked, grace: grace))
  } else {
    site.session.end.track(
      tracked, at: site.place, test: Test.current?.name ?? "no test", grace: grace,
      isInTest: { Test.current != nil })
  }
}
