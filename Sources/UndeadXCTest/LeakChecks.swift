import Foundation
import Undead
import UndeadReport
import UndeadSystem
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
///
/// - Parameter moment: after each test, or after each class.
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
  ///
  /// - Parameter moment: after each test, or after each class.
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
    var running: RunningClass?
  }

  /// A class that is checked when it ends, with one search for all of its tests.
  private struct RunningClass {
    let scope: AllocationScope
    var tests: [(name: String, scope: AllocationScope)] = []
    /// Tests that are left out.
    var skipped: Set<String> = []
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
    let isCheckedWithClass = !moments.contains(.eachTest)
    if isCheckedWithClass { beginClass(of: testCase) }
    guard TestCaseChecks.begin(testCase) else { return testCase.skipLeakCheck(TestCaseChecks.foreignRun) }
    let scope = AllocationScope(testCase.name)
    TestCaseChecks.update(testCase) {
      $0.scope = scope
      $0.isCheckedWithClass = isCheckedWithClass
    }
    state.withLock { state in
      guard isCheckedWithClass, let outer = state.running?.scope else { return }
      scope.nest(in: outer)
      state.running?.tests.append((testCase.name, scope))
    }
    scope.begin()
  }

  private func beginClass(of testCase: XCTestCase) {
    let scope: AllocationScope? = state.withLock { state in
      guard state.running == nil else { return nil }
      let scope = AllocationScope("\(type(of: testCase))")
      state.running = RunningClass(scope: scope)
      return scope
    }
    scope?.begin()
  }

  /// Leaves a test out when its class is checked.
  func skip(_ testCase: XCTestCase) {
    state.withLock { _ = $0.running?.skipped.insert(testCase.name) }
  }

  func testSuiteDidFinish(_ testSuite: XCTestSuite) {
    DeepCall.forgetEarlierCalls()
    finishClass(testSuite)
  }

  private func finishClass(_ testSuite: XCTestSuite) {
    // Only the suite of a class has test cases in it.
    guard testSuite.tests.contains(where: { $0 is XCTestCase }) else { return }
    let running = state.withLock { state in
      defer { state.running = nil }
      return state.running
    }
    guard let running else { return }
    running.scope.end()
    do {
      let reports = try AllocationScope.check([running.scope] + running.tests.map(\.scope))
      let names = [testSuite.name] + running.tests.map(\.name)
      for (name, report) in zip(names, reports) where !running.skipped.contains(name) {
        for leak in report.leaks { fail(testSuite, name, leak) }
        TestCaseChecks.warn(of: report.suspects, in: name)
      }
    } catch {
      testSuite.skipLeakCheck(error.description)
    }
  }

  /// The test has ended: the failure is that of its class.
  private func fail(_ suite: XCTestSuite, _ test: String, _ leak: Leak) {
    let place = leak.place { $0.isMethod(of: test) }
    let text = FailureText.text(leak, directory: Site.directory)
    StandardError.write("\(place.file):\(place.line): error: \(test) : \(text)\n")
    (suite.testRun as? XCTestSuiteRun)?.addTestRun(LeakRun(test: suite))
  }
}

/// A failure of a class whose tests have all ended.
private final class LeakRun: XCTestRun {
  override var failureCount: Int { 1 }
}
