import Shop
import UndeadXCTest
import XCTest

// Each test fails at the line with the marker, which names the type and the fields that the failure must name.
final class LeakyBodies: XCTestCase {
  func testOrderAndInvoice() {
    assertNoLeaks {  // leaks: Shop.Order .invoice .order
      let order = Order()
      let invoice = Invoice()
      order.invoice = invoice
      invoice.order = order
    }
  }

  func testLinkedList() throws {
    assertNoLeaks("lines of an order") {  // leaks: Shop.Line .next .previous
      let first = Line(number: 1)
      first.append(Line(number: 2), strongly: true)
    }
  }

  func testTree() {
    let count = assertNoLeaks { () -> Int in  // leaks: Shop.Category .children .parent
      let root = Category()
      for _ in 0..<3 { root.add(Category(), strongly: true) }
      return root.children.count
    }
    XCTAssertEqual(count, 3)
  }

  func testHoldsItself() {
    assertNoLeaks { _ = Singleton(keepsItself: true) }  // leaks: Shop.Singleton .instance
  }

  func testEnumPayload() {
    assertNoLeaks {  // leaks: Shop.Job .state
      let job = Job()
      job.state = .nested(.running(job: job, attempt: 1))
    }
  }

  func testStructInClass() {
    assertNoLeaks {  // leaks: Shop.Customer .address.owner
      let customer = Customer()
      customer.address.owner = customer
    }
  }

  func testExistentialInDictionary() {
    assertNoLeaks {  // leaks: Shop.Customer .tags
      let customer = Customer()
      customer.tags["owner"] = OwnedTag(label: "owner", customer: customer)
    }
  }

  func testClosureOfSelf() {
    assertNoLeaks {  // leaks: Shop.CartModel .onChange captures self
      let model = CartModel()
      model.bindStrongly()
      model.onChange?(3)
    }
  }

  func testLazyClosure() {
    assertNoLeaks {  // leaks: Shop.Receipt .strong
      let receipt = Receipt(text: "paid")
      _ = receipt.strong()
    }
  }

  func testClosuresInDictionary() {
    assertNoLeaks {  // leaks: Shop.Router .routes
      let router = Router()
      router.route("/cart", strongly: true)
      router.go("/cart")
    }
  }

  func testObserversInArray() {
    assertNoLeaks {  // leaks: Shop.StoreView .store .observers
      let view = StoreView(store: Store(), strongly: true)
      view.store.notify()
    }
  }

  func testDelegate() throws {
    try assertNoLeaks {  // leaks: Shop.DownloadScreen .download .delegate
      let screen = DownloadScreen(strongly: true)
      try XCTUnwrap(screen.download.delegate).downloadDidFinish()
    }
  }

  func testGenericNodes() {
    assertNoLeaks {  // leaks: Shop.Node<Swift.String> .peer
      let first = Node("one")
      let second = Node("two")
      first.peer = second
      second.peer = first
    }
  }

  func testFieldOfASuperclass() {
    assertNoLeaks { _ = ProductScreen(strongly: true) }  // leaks: Shop.ProductScreen .screen
  }

  func testRetainedForC() {
    assertNoLeaks { _ = handOut(7) }  // leaks: Shop.Token that nothing refers to
  }

  func testRawMemory() {
    assertNoLeaks { _ = Bitmap(size: 100, frees: false).first }  // leaks: raw memory
  }
}
