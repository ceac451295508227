import Foundation
import Synchronization
import Undead
import UndeadReport
import XCTest

/// When tests are checked for leaks that no assertion of theirs asks for.
public enum LeakCheckMoment: Sendable {
  /// After each test: a leak fails the test that made it.
  case eachTest
  /// After each class, with one search for all of its tests: a leak fails the class, and the message names the test.
  case eachClass
}

/// Checks all tests of the process from now on; call it in `class func setUp()` of a base class of all tests.
///
/// Without a change to the tests: `UNDEAD_XCTEST=test` or `UNDEAD_XCTEST=class` in the environment.
public func checkAllTestsForLeaks(after moment: LeakCheckMoment) {
  LeakCheckObserver.shared.add(moment) { _ in true }
}

/// Called when the program starts, with the value of `UNDEAD_XCTEST`.
@_cdecl("undead_check_all_tests")
public func _checkAllTests(_ moment: UnsafePointer<CChar>) {
  switch String(cString: moment) {
  case "test": checkAllTestsForLeaks(after: .eachTest)
  case "class": checkAllTestsForLeaks(after: .eachClass)
  case let other:
    StandardError.write("undead: UNDEAD_XCTEST is '\(other)': it must be 'test' or 'class'; it has no effect\n")
  }
}

extension XCTestCase {
  /// Checks all tests of this class and its subclasses for leaks; call it in `class func setUp()`.
  ///
  /// ```swift
  /// override class func setUp() {
  ///   super.setUp()
  ///   checkForLeaks(after: .eachTest)
  /// }
  /// ```
  ///
  /// A test that needs to be left out calls ``skipLeakChecks(_:file:line:)``.
  public class func checkForLeaks(after moment: LeakCheckMoment) {
    LeakCheckObserver.shared.add(moment) { $0 is Self }
  }
}

/// Is told of the tests of the process by XCTest, on the main thread.
final class LeakCheckObserver: NSObject, XCTestObservation, Sendable {
  static let shared: LeakCheckObserver = {
    let observer = LeakCheckObserver()
    XCTestObservationCenter.shared.addTestObserver(observer)
    return observer
  }()

  private struct Rule {
    var moment: LeakCheckMoment
    var covers: @Sendable (XCTestCase) -> Bool
  }

  private struct State {
    var rules: [Rule] = []
    /// The tests of the running class that are checked with it.
    var scope: AllocationScope?
  }

  private let state = Mutex(State())

  func add(_ moment: LeakCheckMoment, _ covers: @escaping @Sendable (XCTestCase) -> Bool) {
    state.withLock { $0.rules.append(Rule(moment: moment, covers: covers)) }
  }

  func testCaseWillStart(_ testCase: XCTestCase) {
    let moments = state.withLock { $0.rules }.filter { $0.covers(testCase) }.map(\.moment)
    guard !moments.isEmpty else { return }
    if let obstacle = Availability.reason {
      return testCase.skipLeakCheck(obstacle)
    }
    if moments.contains(.eachTest) { beginTest(testCase) } else { beginClass(of: testCase) }
  }

  private func beginTest(_ testCase: XCTestCase) {
    guard TestCaseChecks.begin(testCase) else { return }
    let scope = AllocationScope(testCase.name)
    TestCaseChecks.update(testCase) { $0.scope = scope }
    scope.begin()
  }

  private func beginClass(of testCase: XCTestCase) {
    let scope: AllocationScope? = state.withLock { state in
      guard state.scope == nil else { return nil }
      state.scope = AllocationScope("\(type(of: testCase))")
      return state.scope
    }
    scope?.begin()
  }

  func testSuiteDidFinish(_ testSuite: XCTestSuite) {
    DeepCall.forgetEarlierCalls()
    finishClass(testSuite)
  }

  private func finishClass(_ testSuite: XCTestSuite) {
    // Only the suite of a class has test cases in it.
    guard testSuite.tests.contains(where: { $0 is XCTestCase }) else { return }
    let scope = state.withLock { state in
      defer { state.scope = nil }
      return state.scope
    }
    guard let scope else { return }
    scope.end()
    do {
      for leak in try scope.check().leaks { fail(testSuite, leak) }
    } catch {
      testSuite.skipLeakCheck(error.description)
    }
  }

  /// The tests have ended: the failure is that of their class.
  private func fail(_ suite: XCTestSuite, _ leak: Leak) {
    let place = leak.place { frame in suite.tests.contains { frame.isMethod(of: $0.name) } }
    let test = suite.tests.first { test in leak.allocation.frames.contains { $0.isMethod(of: test.name) } }
    let text = FailureText.text(leak, directory: Site.directory)
    StandardError.write("\(place.file):\(place.line): error: \((test ?? suite).name) : \(text)\n")
    (suite.testRun as? XCTestSuiteRun)?.addTestRun(LeakRun(test: suite))
  }
}

/// A failure of a class whose tests have all ended.
private final class LeakRun: XCTestRun {
  override var failureCount: Int { 1 }
}
