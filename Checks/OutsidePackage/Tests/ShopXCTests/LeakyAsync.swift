import Shop
import UndeadXCTest
import XCTest

final class LeakyAsync: XCTestCase {
  func testActors() async {
    await assertNoLeaks {  // leaks: Shop.Warehouse .shelf .warehouse
      let warehouse = Warehouse()
      await warehouse.fill(strongly: true)
    }
  }

  func testCycleAfterASuspension() async throws {
    try await assertNoLeaks {  // leaks: Shop.Order .invoice .order
      let order = Order()
      try await Task.sleep(for: .milliseconds(1))
      order.invoice = Invoice()
      order.invoice?.order = order
    }
  }

  func testChildTasks() async {
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

  func testContinuationThatNobodyResumes() async {
    await assertNoLeaks {  // leaks: suspended task that nobody can resume
      let request = Request(number: 1)
      Task { _ = await send(request, answers: false) }
      try? await Task.sleep(for: .milliseconds(50))
    }
  }
}

@MainActor final class LeakyOnTheMainActor: XCTestCase {
  func testClosureOfAMainActorClass() {
    assertNoLeaks {  // leaks: Shop.Dashboard .reload
      let dashboard = Dashboard()
      dashboard.bind(strongly: true)
      dashboard.reload?()
    }
  }

  func testAsyncBody() async {
    await assertNoLeaks {  // leaks: Shop.Dashboard .reload
      let dashboard = Dashboard()
      dashboard.bind(strongly: true)
      await Task.yield()
      dashboard.reload?()
    }
  }
}
