import Shop
import Testing
import UndeadTesting
import UndeadXCTest
import XCTest

// Each leak fails a test of the library that runs it, once.
final class MixedCase: XCTestCase {
  func testCycle() {
    assertNoLeaks { makeOrder(strongly: true) }  // leaks: Shop.Order .invoice .order
  }

  func testCycleWithAMessage() {
    assertNoLeaks("of the cart") { makeOrder(strongly: true) }  // leaks: Shop.Order .invoice .order
  }

  func testCycleInATask() async {
    await assertNoLeaks {  // leaks: Shop.Order .invoice .order
      await Task.yield()
      makeOrder(strongly: true)
    }
    await assertNoLeaks("of the cart") {  // leaks: Shop.Order .invoice .order
      await Task.yield()
      makeOrder(strongly: true)
    }
  }

  func testHeldObject() async {
    assertDeallocated(after: .milliseconds(50)) { Held.order }  // leaks: Shop.Order
    await assertDeallocated("asked for in a task") { () async in Order() }
    await assertDeallocated(after: .milliseconds(50), "asked for in a task") {  // leaks: Shop.Order
      () async in Held.order
    }
  }

  func testTrackedObject() {
    trackForMemoryLeaks(Held.order, grace: .milliseconds(50))  // leaks: Shop.Order
  }

  func testClean() async {
    assertNoLeaks { makeOrder(strongly: false) }
    await assertNoLeaks { await Task.yield() }
    expectLeak("on purpose") { makeOrder(strongly: true) }
    await expectLeak("on purpose") {
      await Task.yield()
      makeOrder(strongly: true)
    }
    XCTAssertEqual(assertNoZombies("of the cart") { 7 }, 7)
    await assertNoZombies("of the cart") { await Task.yield() }
    assertNoHeapGrowth { makeOrder(strongly: false) }
    await assertNoHeapGrowth { await Task.yield() }
    await assertNoHeapGrowth("of the cart") { await Task.yield() }
    assertLiveObjects(of: Unused.self, atMost: 0, "of the cart")
    var order: Order? = Order()
    assertDeallocated(&order, after: defaultGrace)
  }
}

@Suite struct MixedTests {
  @Test func mixedCycle() async {
    assertNoLeaks { makeOrder(strongly: true) }  // leaks: Shop.Order .invoice .order
    assertNoLeaks("of the cart") { makeOrder(strongly: true) }  // leaks: Shop.Order .invoice .order
    await assertNoLeaks("of the cart") {  // leaks: Shop.Order .invoice .order
      await Task.yield()
      makeOrder(strongly: true)
    }
  }

  @Test func mixedHeldObject() async {
    await assertDeallocated(after: .milliseconds(50), "asked for in a task") {  // leaks: Shop.Order
      () async in Held.order
    }
  }

  @Test(.noLeaks) func mixedTrait() {  // leaks: Shop.Order .invoice .order
    makeOrder(strongly: true)
  }

  @Test(.noLeaks) func mixedClean() async {
    assertNoLeaks { makeOrder(strongly: false) }
    await assertNoLeaks("of the cart") { await Task.yield() }
    await assertNoHeapGrowth("of the cart") { await Task.yield() }
    await assertNoZombies("of the cart") { await Task.yield() }
  }
}

private enum Held {
  nonisolated(unsafe) static let order = Order()
}

private final class Unused {}

private func makeOrder(strongly: Bool) {
  let order = Order()
  let invoice = Invoice()
  order.invoice = invoice
  if strongly { invoice.order = order }
}
