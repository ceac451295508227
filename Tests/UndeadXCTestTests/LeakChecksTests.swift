import Testing
import XCTest

@testable import UndeadXCTest

@Suite(.serialized) @MainActor struct LeakChecksTests {
  final class EachTestCase: XCTestCase {}
  final class EachClassCase: XCTestCase {}
  final class OtherCase: XCTestCase {}

  @Test func eachTestIsChecked() {
    EachTestCase.checkForLeaks(after: .eachTest)
    let failures = CaseRunner.failures { (_: EachTestCase) in makeCycle() }
    #expect(failures.count == 1)
    #expect(failures.first?.text.contains("UndeadXCTestTests.Owner") == true)
    #expect(CaseRunner.failures { (_: EachTestCase) in _ = Owner() } == [])
    #expect(CaseRunner.failures { (_: OtherCase) in makeCycle() } == [])
  }

  class BaseCase: XCTestCase {
    override class func setUp() {
      super.setUp()
      checkForLeaks(after: .eachTest)
    }
  }
  final class DerivedCase: BaseCase {
    override class func setUp() {
      super.setUp()
      checkForLeaks(after: .eachTest)
    }
  }

  /// Each class calls `setUp` of its superclass, and each of its runs calls it again.
  @Test func classesThatSayItAtEachLevelAreCheckedOnce() {
    BaseCase.setUp()
    let rules = LeakCheckObserver.shared.ruleCount
    for _ in 0..<3 { DerivedCase.setUp() }
    #expect(LeakCheckObserver.shared.ruleCount == rules)
    DerivedCase.checkForLeaks(after: .eachClass)
    #expect(LeakCheckObserver.shared.ruleCount == rules + 1)
    #expect(CaseRunner.failures { (_: DerivedCase) in makeCycle() }.count == 1)
    #expect(CaseRunner.failures { (_: DerivedCase) in _ = Owner() } == [])
    #expect(CaseRunner.failures { (_: BaseCase) in makeCycle() }.count == 1)
  }

  final class OwnRun: XCTestCaseRun {}
  final class OwnRunCase: XCTestCase {
    override var testRunClass: AnyClass? { OwnRun.self }
  }

  /// Nobody may take a test that was not checked for a clean one.
  @Test func aRunOfAClassOfItsOwnIsToldOf() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      await MainActor.run {
        OwnRunCase.checkForLeaks(after: .eachTest)
        #expect(CaseRunner.failures { (_: OwnRunCase) in makeCycle() } == [])
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("was not checked for leaks: its run is of a class of its own (`testRunClass`)"), "\(text)")
  }

  class IgnoringBaseCase: XCTestCase {
    override class func setUp() { checkForLeaks(after: .eachTest, ignoring: ["type:UndeadXCTestTests.Item"]) }
  }
  final class IgnoringCase: IgnoringBaseCase {
    override class func setUp() {
      super.setUp()
      checkForLeaks(after: .eachTest)
    }
  }

  @Test func whatASuperclassIgnoresIsIgnored() {
    IgnoringCase.setUp()
    #expect(CaseRunner.failures { (_: IgnoringCase) in makeCycle() } == [])
    IgnoringBaseCase.checkForLeaks(after: .eachTest, ignoring: ["nonsense"])
    IgnoringBaseCase.setUp()
    let failures = CaseRunner.failures { (_: IgnoringBaseCase) in makeCycle() }
    #expect(failures.count == 1)
    #expect(failures.first?.text.contains("a rule after `ignoring` has no effect: \"nonsense\"") == true)
  }

  final class IgnoringClassCase: XCTestCase {}

  @Test func aClassIgnoresToo() {
    IgnoringClassCase.checkForLeaks(after: .eachClass, ignoring: ["type:UndeadXCTestTests.Item"])
    let suite = XCTestSuite(name: "IgnoringClassCase")
    suite.addTest(IgnoringClassCase(name: "testLeaky") { _ in makeCycle() })
    #expect(CaseRunner.run(suite) == [])
    #expect(suite.testRun?.totalFailureCount == 0)
  }

  @Test func aTestCanBeLeftOut() {
    EachTestCase.checkForLeaks(after: .eachTest)
    let failures = CaseRunner.failures { (test: EachTestCase) in
      test.skipLeakChecks("known")
      makeCycle()
    }
    #expect(failures == [])
  }

  @Test func aClassFailsForItsTests() throws {
    EachClassCase.checkForLeaks(after: .eachClass)
    let suite = XCTestSuite(name: "EachClassCase")
    suite.addTest(EachClassCase(name: "testClean") { _ in _ = Owner() })
    suite.addTest(EachClassCase(name: "testLeaky") { _ in makeCycle() })
    #expect(CaseRunner.run(suite) == [])
    #expect(suite.testRun?.totalFailureCount == 1)
    #expect(suite.testRun?.executionCount == 2)
  }

  @Test func aClassFailsOnceForEachOfItsTests() throws {
    EachClassCase.checkForLeaks(after: .eachClass)
    let suite = XCTestSuite(name: "EachClassCase")
    for number in 1...2 { suite.addTest(EachClassCase(name: "testLeaky\(number)") { _ in makeCycle() }) }
    suite.addTest(
      EachClassCase(name: "testLeftOut") { test in
        test.skipLeakChecks("known")
        makeCycle()
      })
    #expect(CaseRunner.run(suite) == [])
    #expect(suite.testRun?.totalFailureCount == 2)
  }
}
