import Synchronization
import Undead
import UndeadReport
import XCTest

/// What is to be checked when a test case ends.
struct TestCaseChecks: Sendable {
  // No StaticString here: its padding holds what was on the stack, which would be a reference in this long-lived array.
  struct Tracked: Sendable {
    var place: Place
    var object: TrackedObject
    var grace: Duration
  }

  var objects: [Tracked] = []
  /// The whole test, if its class or bundle is checked.
  var scope: AllocationScope?
  var skipped: (place: Place, reason: String)?

  /// A line of the test.
  struct Place: Sendable {
    var file: String
    var line: Int
  }

  // XCTest keeps its test cases, so no two have one identity.
  private static let running = Mutex<[ObjectIdentifier: TestCaseChecks]>([:])

  /// Sees to it that a test case is checked when it ends; false if that is not possible.
  static func begin(_ testCase: XCTestCase) -> Bool {
    CheckedTestCaseRun.replaceRun(of: testCase)
  }

  static func update(_ testCase: XCTestCase, _ change: (inout TestCaseChecks) -> Void) {
    running.withLock { change(&$0[ObjectIdentifier(testCase), default: TestCaseChecks()]) }
  }

  static func finish(_ testCase: XCTestCase) {
    guard let checks = running.withLock({ $0.removeValue(forKey: ObjectIdentifier(testCase)) }) else { return }
    checks.scope?.end()
    if let (place, reason) = checks.skipped { return skip(testCase, at: place, reason) }
    checks.checkObjects(testCase)
    if let scope = checks.scope { check(scope, testCase) }
  }

  private func checkObjects(_ testCase: XCTestCase) {
    let alive = objects.filter(\.object.isAlive)
    guard let grace = alive.map(\.grace).max() else { return }
    if let obstacle = Availability.reason {
      for tracked in alive { Self.skip(testCase, at: tracked.place, obstacle) }
      return
    }
    let result = TrackedObject.check(alive.map(\.object), name: testCase.name, grace: grace)
    for survivor in result.survivors {
      let place = alive[survivor.index].place
      if let property = survivor.leak.property(of: testCase) {
        Self.skip(
          testCase, at: place,
          "`\(property)` of \(type(of: testCase)) still holds the \(alive[survivor.index].object.type), and XCTest keeps "
            + "the test case: set it to nil in tearDown")
      } else {
        Self.fail(testCase, at: place, result.message(survivor, directory: Site.directory))
      }
    }
  }

  private static func fail(_ testCase: XCTestCase, at place: Place, _ text: String) {
    testCase.recordFailure(withDescription: text, inFile: place.file, atLine: place.line, expected: true)
  }

  private static func skip(_ testCase: XCTestCase, at place: Place, _ reason: String) {
    let text = "not checked for leaks: \(reason)"
    if Availability.isRequired { return fail(testCase, at: place, text + " (and UNDEAD_REQUIRE is set)") }
    let position = "\(place.file):\(place.line)"
    if Availability.isFirstSkip(at: position) { Output.write("\(position): note: \(text)\n") }
  }

  private static func check(_ scope: AllocationScope, _ testCase: XCTestCase) {
    do {
      let report = try scope.check()
      for leak in report.leaks {
        let place = leak.place { $0.isMethod(of: testCase.name) }
        fail(testCase, at: place, FailureText.text(leak, directory: Site.directory))
      }
      for suspect in report.suspects {
        Output.write("warning: \(testCase.name): \(FailureText.text(suspect, directory: Site.directory))\n")
      }
    } catch {
      Output.skip(testCase, error.description)
    }
  }
}

extension Leak {
  /// The property of the test case that the retain path of the object goes through.
  fileprivate func property(of testCase: XCTestCase) -> String? {
    let type = String(reflecting: Swift.type(of: testCase))
    return retainPath?.first { $0.type == type && !$0.field.isEmpty }?.field
  }

  /// The line of the test's own function in the allocation, else the innermost line of the program.
  func place(isTest: (Frame) -> Bool) -> TestCaseChecks.Place {
    let frame =
      allocation.frames.last { $0.line != nil && isTest($0) }
      ?? allocation.frames.first { !$0.system && $0.line != nil }
    return TestCaseChecks.Place(file: frame?.file ?? "<unknown>", line: frame?.line ?? 0)
  }
}

extension Frame {
  /// Whether it is a frame of a test, or of a closure in it; `test` is its name in XCTest, "CartTests.testAdd".
  func isMethod(of test: String) -> Bool {
    symbol.contains("\(test)()")
  }
}
