import Undead
import UndeadReport
import XCTest

extension XCTestCase {
  /// Fails the test if the object is still alive when the test has ended.
  ///
  /// ```swift
  /// let model = CartModel(store: store)
  /// trackForMemoryLeaks(model)
  /// ```
  ///
  /// The check is made after all teardown blocks and all `tearDown` methods, in whatever order they were added, and
  /// after the grace time. It fails at this line, with what keeps the object alive and where it was allocated. An
  /// object that is gone costs nothing. One that lives only because a property of the test case holds it (XCTest keeps
  /// its test cases until the end of the process) cannot be judged: a note says so; set the property to nil in
  /// `tearDown`.
  ///
  /// - Parameters:
  ///   - object: the object; nil is not tracked.
  ///   - grace: how long the object may take to go after the end of the test; only a failing check waits so long.
  ///   - file: file of the failure, by default that of the call.
  ///   - line: line of the failure, by default that of the call.
  public func trackForMemoryLeaks(
    _ object: AnyObject?, grace: Duration = defaultGrace, file: StaticString = #filePath, line: UInt = #line
  ) {
    guard let object else { return }
    let tracked = TrackedObject(object)
    guard TestCaseChecks.begin(self) else {
      return Site(file: file, line: line)
        .skip(testRun == nil ? "only a running test can be checked when it ends" : TestCaseChecks.foreignRun)
    }
    let place = TestCaseChecks.Place(file: "\(file)", line: Int(line))
    TestCaseChecks.update(self) { $0.objects.append(.init(place: place, object: tracked, grace: grace)) }
  }

  /// Leaves out the checks of ``trackForMemoryLeaks(_:grace:file:line:)`` and ``checkForLeaks(after:ignoring:)`` for this test.
  ///
  /// - Parameters:
  ///   - reason: printed in a note, so that nobody takes the test for a checked one.
  ///   - file: file of the note, by default that of the call.
  ///   - line: line of the note, by default that of the call.
  public func skipLeakChecks(_ reason: String, file: StaticString = #filePath, line: UInt = #line) {
    guard TestCaseChecks.begin(self) else { return }
    let place = TestCaseChecks.Place(file: "\(file)", line: Int(line))
    TestCaseChecks.update(self) { $0.skipped = (place, reason) }
  }
}
