import Cart
import Foundation
import UndeadXCTest
import XCTest

final class CartXCTests: XCTestCase {
  nonisolated(unsafe) static var kept: [Cart] = []
  var cart: Cart?
  var late: Cart?

  override class func setUp() {
    super.setUp()
    checkForLeaks(after: .eachTest)
  }

  override func tearDown() {
    late = nil
    super.tearDown()
  }

  func testBodiesRun() async {
    XCTAssertEqual(assertNoLeaks { Cart.leaked() }, 7)
    let seven = await assertNoLeaks { () async in Cart.leaked() }
    XCTAssertEqual(seven, 7)
    assertNoHeapGrowth { _ = Cart() }
    assertLiveObjects(of: Cart.self, atMost: 0)
  }

  func testWhatIsGoneIsGone() {
    trackForMemoryLeaks(Cart())
    assertDeallocated { Cart() }
  }

  func testWhatTearDownReleasesIsGone() {
    late = Cart()
    trackForMemoryLeaks(late)
  }

  /// XCTest keeps its test cases: nobody can tell.
  func testWhatThisTestCaseHoldsIsNoFailure() {
    cart = Cart()
    cart?.other = Cart()
    trackForMemoryLeaks(cart, grace: .milliseconds(10))
    trackForMemoryLeaks(cart?.other, grace: .milliseconds(10))
  }

  func testWhatStaysFails() throws {
    try XCTSkipUnless(ProcessInfo.processInfo.environment["ELSEWHERE_FAILS"] == "1")
    Self.kept.append(Cart())
    trackForMemoryLeaks(Self.kept.last, grace: .milliseconds(10))
  }
}
