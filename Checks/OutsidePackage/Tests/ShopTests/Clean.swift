import Foundation
import Shop
import Synchronization
import Testing
import UndeadTesting

enum Requests {
  static let all = Mutex<[Request]>([])
}

// No test here may fail. They run at the same time as the leaky ones, and use the same types.
@Suite struct CleanBodies {
  @Test func orderAndInvoice() {
    assertNoLeaks {
      let order = Order()
      order.invoice = Invoice()
      order.invoice?.weakOrder = order
    }
  }

  @Test func linkedList() {
    assertNoLeaks {
      let first = Line(number: 1)
      first.append(Line(number: 2), strongly: false)
    }
  }

  @Test func actors() async {
    await assertNoLeaks {
      let warehouse = Warehouse()
      await warehouse.fill(strongly: false)
    }
  }

  @Test func childTasks() async {
    await assertNoLeaks {
      await withTaskGroup(of: Int.self) { group in
        for number in 0..<4 { group.addTask { await send(Request(number: number), answers: true) } }
      }
    }
  }

  @Test func mustBeGone() async {
    assertDeallocated { Order() }
    var heartbeat: Heartbeat? = Heartbeat()
    heartbeat?.start(strongly: false)
    assertDeallocated(&heartbeat)
    await assertDeallocated { () async -> Request in
      await Task.yield()
      return Request(number: 1)
    }
  }

  @Test func nested() {
    assertNoLeaks {
      expectLeak("on purpose") { _ = Singleton(keepsItself: true) }
      assertNoLeaks { _ = Order() }
    }
  }

  @Test func synchronousBodyInAsyncTest() async {
    assertNoLeaks { _ = Order() }
  }
}

@Suite(.noLeaks) struct CleanSuite {
  @Test func closures() {
    let model = CartModel()
    model.bindWeakly()
    model.onChange?(3)
    let receipt = Receipt(text: "paid")
    _ = receipt.unowned()
    let router = Router()
    router.route("/cart", strongly: false)
    router.go("/cart")
  }

  @Test func delegate() {
    DownloadScreen(strongly: false).download.weakDelegate?.downloadDidFinish()
  }

  @Test(arguments: [1, 2, 3]) func trees(size: Int) async throws {
    let root = Category()
    for _ in 0..<size { root.add(Category(), strongly: false) }
    try await Task.sleep(for: .milliseconds(size))
  }

  @Test func confirmed() async {
    await confirmation { done in
      let view = StoreView(store: Store(), strongly: false)
      view.store.observe { done() }
      view.store.notify()
    }
  }

  @Test func reachable() {
    Sessions.logIn(Session(name: "reachable"))
  }

  @Test(.skipLeakChecks("known, and not to be fixed")) func leftOut() {
    _ = Singleton(keepsItself: true)
  }

  @Test func throwing() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      _ = Order()
      throw Stop()
    }
  }

  @Test func failingForAnotherReason() {
    withKnownIssue { #expect(Order().invoice != nil) }
  }

  @Suite struct Nested {
    @Test func generics() {
      let first = Node("one")
      first.peer = Node("two")
    }

    @Test @MainActor func dashboard() async {
      let dashboard = Dashboard()
      dashboard.bind(strongly: false)
      await Task.yield()
    }
  }
}

@Suite(.noLeaks) final class CleanSuiteClass {
  private let screen = ProductScreen(strongly: false)
  private let bitmap = Bitmap(size: 100, frees: true)

  init() async throws {
    try await Task.sleep(for: .milliseconds(1))
    trackForMemoryLeaks(screen)
  }

  deinit { #expect(bitmap.first == 0) }

  @Test func superclass() { #expect(screen.title == "detail") }
  @Test(arguments: 0..<4) func screens(number: Int) { trackForMemoryLeaks(bitmap) }
}

@Suite(.noLeaks) actor CleanSuiteActor {
  private let view = StoreView(store: Store(), strongly: false)

  @Test func observers() { view.store.notify() }
}

@Suite struct CleanTests {
  @Test(.noLeaks) func enumPayload() {
    let job = Job()
    job.state = .running(job: Job(), attempt: 1)
  }

  @Test(.noLeaks) func memoryByHand() {
    #expect(takeBack(handOut(7)) == 7)
  }

  @Test(.noLeaks) func tracked() {
    let model = CartModel()
    trackForMemoryLeaks(model)
    model.bindWeakly()
  }

  @Test(.noLeaks) func releasedLate() {
    let upload = Upload()
    trackForMemoryLeaks(upload)
    upload.start()
  }

  @Test(.noLeaks) func timersAndObservers() {
    let badge = Badge(strongly: false)
    let heartbeat = Heartbeat()
    trackForMemoryLeaks(badge)
    trackForMemoryLeaks(heartbeat)
    heartbeat.start(strongly: false)
  }

  @Test(.noLeaks) func trackedTask() async throws {
    let poller = Poller()
    trackForMemoryLeaks(poller)
    poller.start(strongly: false)
  }

  @Test(.noLeaks) func loggedOut() {
    let session = Session(name: "logged out")
    trackForMemoryLeaks(session)
    Sessions.logIn(session)
    Sessions.logOut(session)
  }

  @Test func withoutTheTrait() {
    let order = Order()
    trackForMemoryLeaks(order)
  }
}
