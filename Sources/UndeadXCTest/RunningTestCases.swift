import Undead
import UndeadSystem
import XCTest

/// What is to be checked when the test cases that run end.
///
/// XCTest makes test cases and their runs, and has one observation center: none of them knows a ``DetectionSession``, so
/// there is one of these for the process, whose session they are checked in.
final class RunningTestCases: Sendable {
  static let process = AllocationScope.outsideOfAll { RunningTestCases() }

  // XCTest keeps its test cases, so no two have one identity.
  private let checks = Mutex<[ObjectIdentifier: TestCaseChecks]>([:])

  func update(_ testCase: XCTestCase, _ change: (inout TestCaseChecks) -> Void) {
    AllocationScope.outsideOfAll {
      checks.withLock { change(&$0[ObjectIdentifier(testCase), default: TestCaseChecks()]) }
    }
  }

  /// What is to be checked of a test case, which is forgotten; nil if it is nothing.
  func end(_ testCase: XCTestCase) -> TestCaseChecks? {
    checks.withLock { $0.removeValue(forKey: ObjectIdentifier(testCase)) }
  }
}
