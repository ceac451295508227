import Undead
import XCTest

#if canImport(ObjectiveC)
  import ObjectiveC
#endif

/// The run of a test case that checks for leaks when everything of the test has ended, and its result is not final yet.
///
/// XCTest runs teardown blocks first, then `tearDown`, `tearDownWithError` and the asynchronous `tearDown`. Only the
/// end of the run is later than all of them, and early enough to fail the test: observers are called too late.
final class CheckedTestCaseRun: XCTestCaseRun {
  override func stop() {
    DeepCall.forgetEarlierCalls()
    if let testCase = test as? XCTestCase { TestCaseChecks.finish(testCase) }
    super.stop()
    // XCTest never releases its runs: reports are to call this one what it was.
    setClass(of: self, to: XCTestCaseRun.self)
  }

  /// Has a running test case checked when it ends; false if it has no run, or a run of a class of its own.
  static func replaceRun(of testCase: XCTestCase) -> Bool {
    guard let run = testCase.testRun else { return false }
    if run is CheckedTestCaseRun { return true }
    guard type(of: run) == XCTestCaseRun.self else { return false }
    setClass(of: run, to: CheckedTestCaseRun.self)
    return true
  }
}

/// Makes an object one of another class, as `object_setClass` does where there is Objective-C.
///
/// Sound for a class and a subclass of it that adds no stored properties: both have the same layout, and the methods of
/// an open class of another module are always looked up in the class of the object, which its first word refers to.
private func setClass(of object: AnyObject, to type: AnyClass) {
  #if canImport(ObjectiveC)
    object_setClass(object, type)
  #else
    let address = Unmanaged.passUnretained(object).toOpaque()
    address.storeBytes(of: UInt(bitPattern: ObjectIdentifier(type)), as: UInt.self)
  #endif
}
