import Undead
import UndeadReport
import XCTest

/// What is to be checked when a test case ends.
struct TestCaseChecks: Sendable {
  struct Tracked: Sendable {
    var place: Place
    var object: TrackedObject
    var grace: Duration
  }

  var objects: [Tracked] = []
  /// The whole test, if its class or bundle is checked.
  var scope: AllocationScope?
  /// What the check of the scope leaves out.
  var ignored: [String] = []
  /// The scope is checked when its class ends, not with the test.
  var isCheckedWithClass = false
  var skipped: (place: Place, reason: String)?

  /// A line of the test.
  // Not a StaticString: its padding holds what was on the stack, which would be a reference in this long-lived array.
  struct Place: Sendable {
    var file: String
    var line: Int
  }

  /// Sees to it that a test case is checked when it ends; false if that is not possible.
  static func begin(_ testCase: XCTestCase) -> Bool {
    CheckedTestCaseRun.replaceRun(of: testCase)
  }

  /// Why a test case that overrides `testRunClass` is not checked.
  static let foreignRun =
    "its run is of a class of its own (`testRunClass`), and only the end of an XCTestCaseRun is seen in time"

  static func update(_ testCase: XCTestCase, _ change: (inout TestCaseChecks) -> Void) {
    RunningTestCases.process.update(testCase, change)
  }

  static func finish(_ testCase: XCTestCase) {
    guard var checks = RunningTestCases.process.end(testCase) else { return }
    checks.scope?.end()
    if let (place, reason) = checks.skipped {
      if checks.isCheckedWithClass { LeakCheckObserver.shared.skip(testCase) }
      checks.scope?.exclude()
      return TestCaseSite(testCase: testCase, position: place).skip(reason)
    }
    TrackingAssertion.check(
      checks.objects.map {
        TrackingAssertion(
          site: TestCaseSite(testCase: testCase, position: $0.place), object: $0.object, grace: $0.grace)
      }, name: testCase.name)
    // They hold the memory of objects that are gone, and were born in the test: what it left behind would never be nothing.
    checks.objects = []
    if let scope = checks.scope, !checks.isCheckedWithClass { check(scope, testCase, ignoring: checks.ignored) }
  }

  private static func check(_ scope: AllocationScope, _ testCase: XCTestCase, ignoring rules: [String]) {
    let site = TestCaseSite(testCase: testCase, position: Place(file: "<unknown>", line: 0))
    do {
      let report = try scope.check(options: site.options(ignoring: rules), heldBy: testCase)
      for leak in report.leaks {
        TestCaseSite(testCase: testCase, position: leak.place { $0.isMethod(of: testCase.name) })
          .fail(FailureText.text(leak, directory: TestCaseSite.directory))
      }
      warn(of: report.suspects, in: testCase.name)
    } catch {
      testCase.skipLeakCheck(error.description)
    }
  }

  /// Suspects fail no test.
  static func warn(of suspects: [Suspect], in test: String) {
    for suspect in suspects {
      StandardError.write("warning: \(test): \(FailureText.text(suspect, directory: TestCaseSite.directory))\n")
    }
  }
}

/// A line of a test case that has ended, and whose result is not final yet.
private struct TestCaseSite: AssertionSite {
  let testCase: XCTestCase
  let position: TestCaseChecks.Place

  var place: String { "\(position.file):\(position.line)" }

  func record(_ outcome: AssertionOutcome, _ text: String) {
    switch outcome {
    case .failure:
      testCase.recordFailure(withDescription: text, inFile: position.file, atLine: position.line, expected: true)
    case .warning, .note: StandardError.write("\(place): \(outcome.rawValue): \(text)\n")
    }
  }

  func doubt(about object: TrackedObject, _ leak: Leak) -> String? {
    (leak.property(of: testCase) ?? object.property(of: testCase)).map {
      "`\($0)` of \(type(of: testCase)) still holds the \(object.type), and XCTest keeps the test case: set it to nil in "
        + "tearDown"
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
