import Shop
import UndeadXCTest
import XCTest

final class LeakyObjects: XCTestCase {
  func testTrackedCycle() {
    let model = CartModel()
    trackForMemoryLeaks(model)  // leaks: Shop.CartModel .onChange
    model.bindStrongly()
  }

  func testTrackedObjectInAGlobal() {
    let session = Session(name: "tracked")
    trackForMemoryLeaks(session)  // leaks: Shop.Session global active
    Sessions.logIn(session)
  }

  func testTimer() {
    let ticker = Ticker()
    trackForMemoryLeaks(ticker, grace: .milliseconds(50))  // leaks: Shop.Ticker captures self
    ticker.start(strongly: true)
  }

  func testObserver() {
    let badge = Badge(strongly: true)
    trackForMemoryLeaks(badge, grace: .milliseconds(50))  // leaks: Shop.Badge captures self
  }

  func testMustBeGone() {
    assertDeallocated(after: .milliseconds(50)) {  // leaks: Shop.Session global active
      let session = Session(name: "must be gone")
      Sessions.logIn(session)
      return session
    }
  }

  func testVariable() {
    var heartbeat: Heartbeat? = Heartbeat()
    heartbeat?.start(strongly: true)
    assertDeallocated(&heartbeat, after: .milliseconds(50))  // leaks: Shop.Heartbeat captures self
    XCTAssertNil(heartbeat)
  }

  func testTask() async throws {
    let poller = Poller()
    trackForMemoryLeaks(poller, grace: .milliseconds(50))  // leaks: Shop.Poller
    poller.start(strongly: true)
    try await Task.sleep(for: .milliseconds(20))
  }

  func testAnExpectationThatIsNotMet() {
    expectLeak("fixed long ago") { _ = Order() }  // leaks: nothing leaked, but a leak was expected
  }

  func testTooManyAreAlive() {
    let sessions = (0..<4).map { Session(name: "alive \($0)") }
    assertLiveObjects(of: Session.self, atMost: 3)  // leaks: Shop.Session are alive, not at most 3
    withExtendedLifetime(sessions) {}
  }

  func testGrowth() {
    var number = 0
    assertNoHeapGrowth {  // leaks: growth: more Shop.Session
      number += 1
      Sessions.logIn(Session(name: "growth \(number)"))
    }
  }
}

/// The object under test in a property, as many suites have it.
final class LeakyProperties: XCTestCase {
  private var model: CartModel!

  override func setUp() {
    super.setUp()
    model = CartModel()
    trackForMemoryLeaks(model)  // leaks: Shop.CartModel .onChange
  }

  override func tearDown() {
    model = nil
    super.tearDown()
  }

  func testBoundModel() {
    model.bindStrongly()
  }
}

class ScreenTestCase: XCTestCase {
  var screen: ProductScreen?

  override func setUp() async throws {
    try await super.setUp()
    screen = makeScreen()
    trackForMemoryLeaks(screen)  // leaks: Shop.ProductScreen .presenter .screen
  }

  override func tearDown() async throws {
    try await Task.sleep(for: .milliseconds(5))
    screen = nil
    try await super.tearDown()
  }

  func makeScreen() -> ProductScreen { ProductScreen(strongly: false) }
}

final class LeakyInheritance: ScreenTestCase {
  override func makeScreen() -> ProductScreen { ProductScreen(strongly: true) }

  func testScreen() {
    addTeardownBlock { [weak self] in XCTAssertNotNil(self?.screen) }
    XCTAssertNotNil(screen)
  }
}

/// Every test of the class is checked.
final class LeakyClass: XCTestCase {
  override class func setUp() {
    super.setUp()
    checkForLeaks(after: .eachTest)
  }

  func testPlain() {
    let order = makeOrder()  // leaks: Shop.Order .invoice .order
    XCTAssertNotNil(order.invoice)
  }

  func testAsync() async {
    let warehouse = Warehouse()  // leaks: Shop.Warehouse .shelf
    await warehouse.fill(strongly: true)
  }

  private func makeOrder() -> Order {
    let order = Order()
    order.invoice = Invoice()
    order.invoice?.order = order
    return order
  }
}

final class LeakyWithinLimits: XCTestCase {
  override class func setUp() {
    super.setUp()
    checkForLeaks(after: .eachClass)
  }

  func testOne() {
    let model = CartModel()  // leaks: Shop.CartModel .onChange
    model.bindStrongly()
  }
}
