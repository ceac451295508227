import Foundation
import Shop
import Testing
import UndeadTesting

// Each test fails at the line with the marker, which names the type and the fields that the failure must name.
@Suite struct LeakyBodies {
  @Test func orderAndInvoice() {
    assertNoLeaks {  // leaks: Shop.Order .invoice .order
      let order = Order()
      order.invoice = Invoice()
      order.invoice?.order = order
    }
  }

  @Test func linkedList() throws {
    assertNoLeaks("lines of an order") {  // leaks: Shop.Line .next .previous
      let first = Line(number: 1)
      first.append(Line(number: 2), strongly: true)
    }
  }

  @Test func delegate() throws {
    try assertNoLeaks {  // leaks: Shop.DownloadScreen .download .delegate
      let screen = DownloadScreen(strongly: true)
      try #require(screen.download.delegate).downloadDidFinish()
    }
  }

  @Test func actors() async {
    await assertNoLeaks {  // leaks: Shop.Warehouse .shelf .warehouse
      let warehouse = Warehouse()
      await warehouse.fill(strongly: true)
    }
  }

  @Test func childTasks() async {
    await assertNoLeaks {  // leaks: Shop.CartModel .onChange
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            let model = CartModel()
            model.bindStrongly()
          }
        }
      }
    }
  }

  @Test func mustBeGone() {
    assertDeallocated(after: .milliseconds(50)) {  // leaks: Shop.Session global active
      let session = Session(name: "must be gone")
      Sessions.logIn(session)
      return session
    }
  }

  @Test func anExpectationThatIsNotMet() {
    expectLeak("fixed long ago") { _ = Order() }  // leaks: nothing leaked, but a leak was expected
  }
}

@Suite(.noLeaks) struct LeakySuite {
  @Test func closureOfSelf() {  // leaks: Shop.CartModel .onChange captures self
    let model = CartModel()
    model.bindStrongly()
  }

  @Test func lazyClosure() {  // leaks: Shop.Receipt .strong
    let receipt = Receipt(text: "paid")
    _ = receipt.strong()
  }

  @Test func genericNodes() async throws {  // leaks: Shop.Node<Swift.String> .peer
    let first = Node("one")
    try await Task.sleep(for: .milliseconds(1))
    first.peer = Node("two")
    first.peer?.peer = first
  }

  @Test(arguments: [1, 2, 3]) func treesOfOneSize(size: Int) {  // leaks x3: Shop.Category .children .parent
    let root = Category()
    for _ in 0..<size { root.add(Category(), strongly: true) }
  }

  @Suite struct Nested {
    @Test func dictionary() {  // leaks: Shop.Router .routes
      let router = Router()
      router.route("/cart", strongly: true)
    }

    @Test @MainActor func dashboard() async {  // leaks: Shop.Dashboard .reload
      let dashboard = Dashboard()
      dashboard.bind(strongly: true)
      await Task.yield()
    }
  }
}

/// The instance of a suite belongs to the test.
@Suite(.noLeaks) final class LeakySuiteClass {
  private let screen = ProductScreen(strongly: true)

  @Test func superclass() {  // leaks: Shop.ProductScreen .presenter .screen
    #expect(screen.title == "detail")
  }
}

@Suite(.noLeaks) actor LeakySuiteActor {
  private let view = StoreView(store: Store(), strongly: true)

  @Test func observers() {  // leaks: Shop.StoreView .store .observers
    view.store.notify()
  }
}

@Suite struct LeakyTests {
  @Test(.noLeaks) func enumPayload() {  // leaks: Shop.Job .state
    let job = Job()
    job.state = .running(job: job, attempt: 1)
  }

  @Test(.noLeaks) func retainedForC() {  // leaks: Shop.Token that nothing refers to
    _ = handOut(7)
  }

  @Test(.noLeaks) func tracked() {
    let model = CartModel()
    trackForMemoryLeaks(model)  // leaks: Shop.CartModel .onChange
    model.bindStrongly()
  }

  @Test(.noLeaks) func trackedInAGlobal() {
    let session = Session(name: "tracked")
    trackForMemoryLeaks(session, grace: .milliseconds(50))  // leaks: Shop.Session global active
    Sessions.logIn(session)
  }

  @Test(.noLeaks) func trackedTask() async throws {
    let poller = Poller()
    trackForMemoryLeaks(poller, grace: .milliseconds(50))  // leaks: Shop.Poller
    poller.start(strongly: true)
    try await Task.sleep(for: .milliseconds(20))
  }

  @Test(.noLeaks) func throwing() throws {  // leaks: Shop.Singleton .instance
    struct Stop: Error {}
    _ = Singleton(keepsItself: true)
    throw Stop()
  }
}

/// Growth and live objects are questions about the whole process, which other tests change.
@Suite(.serialized) struct LeakyNumbers {
  @Test func growth() {
    var number = 0
    assertNoHeapGrowth {  // leaks: growth: more Shop.Request
      number += 1
      Requests.all.withLock { $0.append(Request(number: number)) }
    }
  }

  @Test func tooManyAreAlive() {
    let uploads = (0..<4).map { _ in Bitmap(size: 10, frees: true) }
    assertLiveObjects(of: Bitmap.self, atMost: 3)  // leaks: Shop.Bitmap are alive, not at most 3
    withExtendedLifetime(uploads) {}
  }

  @Test(.noLeaks) func detached() async {  // leaks: Shop.Order .invoice .order
    await Task.detached { makeOrder() }.value
  }

  @Test(.noLeaks) func onAQueue() async {  // leaks: Shop.Order .invoice .order
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        makeOrder()
        continuation.resume()
      }
    }
  }
}
