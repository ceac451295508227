// The program ends while objects wait for the main actor to run their deinits: until then their fields are in use.
// EXPECT silent
// FLAGS -swift-version 6
import Foundation

final class Item {
  let text: String
  init(_ number: Int) { text = "item \(number) with a text that is on the heap" }
}
@MainActor final class Screen {
  nonisolated(unsafe) var items = (0..<5).map(Item.init)
  nonisolated init() {}
  isolated deinit { print("screen", items.count) }
}
@inline(never) func makeScreens() {
  for _ in 0..<3 { _ = Screen() }
}
let made = DispatchSemaphore(value: 0)
Thread {
  makeScreens()
  made.signal()
}.start()
made.wait()
exit(0)
