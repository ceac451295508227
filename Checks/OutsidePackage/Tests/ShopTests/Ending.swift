import Shop
import Testing
import UndeadTesting

// What ENDING asks for happens in the middle of a test (`Endings.swift` of the library); without it nothing does.
@Suite(.serialized, .enabled(if: ending != nil)) struct Ending {
  @Test(.noLeaks) func a() { makeOrder() }

  @Test func b() {
    let order = Order()
    trackForMemoryLeaks(order)
    assertNoLeaks { reach(ending) { assertNoLeaks { makeOrder() } } }
  }

  @Test(.noLeaks) func c() { _ = Order() }
}
