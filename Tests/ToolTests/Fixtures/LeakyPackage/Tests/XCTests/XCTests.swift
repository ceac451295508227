import Foundation
import Library
import XCTest

final class LeakyCases: XCTestCase {
  func testCycle() {
    XCTAssertEqual(makeCycle("plain"), 5)
  }

  func testClosure() {
    let counts = ["closure"].map { makeCycle($0) }
    XCTAssertEqual(counts, [7])
  }

  func testThrowing() throws {
    XCTAssertEqual(try throwing(), 8)
  }

  private func throwing() throws -> Int { makeCycle("throwing") }

  func testAsync() async {
    await Task.yield()
    XCTAssertEqual(makeCycle("async case"), 10)
  }
}

final class CleanCases: XCTestCase {
  private var kept: Parent?

  func testStored() {
    kept = Parent()
    XCTAssertNotNil(kept)
  }

  func testPrints() {
    print("the tests print as ever")
  }

  func testCrashesIfAsked() {
    if ProcessInfo.processInfo.environment["LEAKY_CRASH"] != nil { fatalError("asked for") }
  }

  func testFailsIfAsked() {
    XCTAssertNil(ProcessInfo.processInfo.environment["LEAKY_FAIL"])
  }
}
