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
/// - Parameters:
///   - moment: after each test, or after each class.
///   - rules: leaks that fail nothing, such as `["module:ImageCache"]`: lines as in the file `.undead.supp`, which holds as
///     well. One that makes no sense fails the first test or class.
public func checkAllTestsForLeaks(after moment: LeakCheckMoment, ignoring rules: [String] = []) {
  LeakCheckObserver.shared.add(moment, to: XCTestCase.self, ignoring: rules) { _ in true }
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
  /// A class may do so whose superclass does, too: each test is checked once, after it if one of them says `eachTest`.
  ///
  /// - Parameters:
  ///   - moment: after each test, or after each class.
  ///   - rules: leaks that fail nothing, such as `["module:ImageCache"]`: lines as in the file `.undead.supp`, which holds
  ///     as well, and so does what a superclass names. One that makes no sense fails each test or class.
  public class func checkForLeaks(after moment: LeakCheckMoment, ignoring rules: [String] = []) {
    LeakCheckObserver.shared.add(moment, to: self, ignoring: rules) { $0 is Self.Type }
  }
}

/// XCTest calls it for the tests of the process, on the main thread.
final class LeakCheckObserver: NSObject, XCTestObservation, Sendable {
  static let shared: LeakCheckObserver = {
    let observer = LeakCheckObserver()
    XCTestObservationCenter.shared.addTestObserver(observer)
    return observer
  }()

  private struct Rule {
    var moment: LeakCheckMoment
    /// What is left out.
    var ignored: [String]
    var covers: @Sendable (XCTestCase.Type) -> Bool
  }

  private struct State {
    var rules: [Rule] = []
    var running: RunningClass?
  }

  /// A class that is checked when it ends, with one search for all of its tests.
  private struct RunningClass {
    let scope: AllocationScope
    /// What is left out.
    let ignored: [String]
    var tests: [(name: String, scope: AllocationScope)] = []
    /// Tests that are left out.
    var skipped: Set<String> = []
  }

  private let state = Mutex(State())

  /// Checks a class and those below it. `setUp` of a base class says so for each of them, and they may say it again.
  func add(
    _ moment: LeakCheckMoment, to type: XCTestCase.Type, ignoring ignored: [String],
    _ covers: @escaping @Sendable (XCTestCase.Type) -> Bool
  ) {
    state.withLock { state in
      let isThere = state.rules.contains { rule in
        rule.moment == moment && rule.covers(type) && ignored.allSatisfy(rule.ignored.contains)
      }
      if !isThere { state.rules.append(Rule(moment: moment, ignored: ignored, covers: covers)) }
    }
  }

  /// How many rules there are.
  var ruleCount: Int { state.withLock { $0.rules.count } }

  func testCaseWillStart(_ testCase: XCTestCase) {
    let rules = state.withLock { $0.rules }.filter { $0.covers(type(of: testCase)) }
    guard !rules.isEmpty else { return }
    // A key path would be made anew for each test.
    let ignored = rules.flatMap { $0.ignored }
    if let obstacle = Availability.reason {
      return testCase.skipLeakCheck(obstacle)
    }
    let isCheckedWithClass = !rules.contains { $0.moment == .eachTest }
    if isCheckedWithClass { beginClass(of: testCase, ignoring: ignored) }
    guard TestCaseChecks.begin(testCase) else { return testCase.skipLeakCheck(TestCaseChecks.foreignRun) }
    let scope = AllocationScope(testCase.name)
    TestCaseChecks.update(testCase) {
      $0.scope = scope
      $0.ignored = ignored
      $0.isCheckedWithClass = isCheckedWithClass
    }
    state.withLock { state in
      guard isCheckedWithClass, let outer = state.running?.scope else { return }
      scope.nest(in: outer)
      state.running?.tests.append((testCase.name, scope))
    }
    scope.begin()
  }

  private func beginClass(of testCase: XCTestCase, ignoring ignored: [String]) {
    let scope: AllocationScope? = state.withLock { state in
      guard state.running == nil else { return nil }
      let scope = AllocationScope("\(type(of: testCase))")
      state.running = RunningClass(scope: scope, ignored: ignored)
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
    let site = SuiteSite(suite: testSuite)
    do {
      let reports = try AllocationScope.check(
        [running.scope] + running.tests.map(\.scope), options: site.options(ignoring: running.ignored))
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
    suite.addLeak()
  }
}

extension XCTestSuite {
  /// Makes the suite one that failed once more.
  fileprivate func addLeak() { (testRun as? XCTestSuiteRun)?.addTestRun(LeakRun(test: self)) }
}

/// A class whose tests have all ended.
private struct SuiteSite: AssertionSite {
  let suite: XCTestSuite

  var place: String { "<unknown>:0" }

  func record(_ outcome: AssertionOutcome, _ text: String) {
    StandardError.write("\(place): \(outcome == .failure ? "error" : outcome.rawValue): \(suite.name) : \(text)\n")
    if outcome == .failure { suite.addLeak() }
  }
}

/// A failure of a class whose tests have all ended.
private final class LeakRun: XCTestRun {
  override var failureCount: Int { 1 }
}
