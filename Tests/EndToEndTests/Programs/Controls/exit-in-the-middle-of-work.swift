// A thread ends the program in the middle of a sort, in a deinit, with closures and iterators in registers.
// EXPECT silent
import Foundation

final class Item: Comparable {
  let key: Int
  var text: String
  init(_ key: Int) {
    self.key = key
    text = "item number \(key) with text"
  }
  static func == (left: Item, right: Item) -> Bool { left.key == right.key }
  static func < (left: Item, right: Item) -> Bool {
    comparisons += 1
    if comparisons == 20_000 { exit(0) }
    return left.key < right.key
  }
}
nonisolated(unsafe) var comparisons = 0

@inline(never) func work() {
  var seed: UInt64 = 7
  var items: [Item] = []
  for _ in 0..<5000 {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1
    items.append(Item(Int(seed >> 33)))
  }
  items.sort()
  print(items.count)
}
Thread { work() }.start()
sleep(100)
