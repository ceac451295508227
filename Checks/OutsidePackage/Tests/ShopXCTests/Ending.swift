import Shop
import UndeadXCTest
import XCTest

// What ENDING asks for happens in the middle of a test (`Endings.swift` of the library); without it nothing does.
final class Ending: XCTestCase {
  func testA() throws {
    try XCTSkipUnless(ending != nil)
    assertNoLeaks { makeOrder() }
  }

  func testB() throws {
    try XCTSkipUnless(ending != nil)
    let order = Order()
    trackForMemoryLeaks(order)
    assertNoLeaks { reach(ending) { assertNoLeaks { makeOrder() } } }
  }

  func testC() throws {
    try XCTSkipUnless(ending != nil)
    assertNoLeaks { _ = Order() }
  }
}
