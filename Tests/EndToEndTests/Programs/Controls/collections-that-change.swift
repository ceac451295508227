// The program ends while threads add to collections and take from them, and while others wait in the middle of filling one.
// EXPECT silent
import Foundation

class Item {
  let text: String
  init(_ number: Int) { text = "item number \(number) with text" }
}
final class Shelf: Item, @unchecked Sendable {
  var items: [Item] = []
  var named: [String: Item] = [:]
  var pairs: [Int: (Item, [Item])] = [:]
  func change() {
    for round in 0... {
      items.append(Item(round))
      named["\(round % 7)"] = Item(round)
      pairs[round % 11] = (Item(round), [Item(round), Item(round)])
      if round % 3 == 0 { _ = items.removeLast() }
      if round % 5 == 0 { named.removeValue(forKey: "\(round % 7)") }
      if items.count > 40 { items.removeFirst(30) }
      if round % 101 == 0 { pairs.removeAll(keepingCapacity: true) }
    }
  }
}
nonisolated(unsafe) let bare = UnsafeMutablePointer<[Item]>.allocate(capacity: 1)
bare.initialize(to: [])
let waiting = DispatchSemaphore(value: 0)
let never = DispatchSemaphore(value: 0)

func waitForever() {
  waiting.signal()
  never.wait()
}
@inline(never) func waitWhileFilling() {
  let items = [Item](unsafeUninitializedCapacity: 20) { buffer, count in
    for index in 0..<10 { (buffer.baseAddress! + index).initialize(to: Item(index)) }
    waitForever()
    count = 10
  }
  print(items.count)
}
@inline(never) func waitWhileMapping() {
  let items = (0..<20).map { number in
    if number == 15 { waitForever() }
    return Item(number)
  }
  print(items.count)
}
@inline(never) func waitWhileCopying() {
  let numbers = AnySequence { () -> AnyIterator<Item> in
    var number = 0
    return AnyIterator {
      number += 1
      if number == 12 { waitForever() }
      return Item(number)
    }
  }
  print(Array(numbers).count)
}
@inline(never) func waitWhileGrouping() {
  let grouped = Dictionary(grouping: (0..<30).map(Item.init)) { item in
    if item.text.contains("25") { waitForever() }
    return item.text.count
  }
  print(grouped.count)
}
@inline(never) func waitWhileSorting() {
  var calls = 0
  let items = (0..<500).map { Item($0 * 7919 % 500) }.sorted { left, right in
    calls += 1
    if calls == 2000 { waitForever() }
    return left.text < right.text
  }
  print(items.count)
}
final class LastOne: Item {
  deinit { waitForever() }
}
func mixedItems() -> [Item] { (0..<40).map { $0 == 20 ? LastOne($0) : Item($0) } }

@inline(never) func waitWhileEmptyingAnArray() {
  var items = mixedItems()
  items.removeAll(keepingCapacity: true)
  print(items.count)
}
@inline(never) func waitWhileRemovingFromAnArray() {
  var items = mixedItems()
  items.removeFirst(30)
  print(items.count)
}
@inline(never) func waitWhileDestroyingAnArray() {
  var items = mixedItems()
  items = []
  print(items.count)
}
@inline(never) func waitWhileEmptyingATable() {
  var table = Dictionary(uniqueKeysWithValues: mixedItems().map { ($0.text, $0) })
  table.removeAll(keepingCapacity: true)
  print(table.count)
}
@inline(never) func waitWhileDestroyingATable() {
  var table = Dictionary(uniqueKeysWithValues: mixedItems().map { ($0.text, $0) })
  table = [:]
  print(table.count)
}
final class Shelves {
  var first = mixedItems()
  var last: [Int: Item] = [1: LastOne(1), 2: Item(2), 3: Item(3)]
}
@inline(never) func waitWhileDestroyingAnObject() {
  var shelves: Shelves? = Shelves()
  print(shelves?.first.count ?? 0)
  shelves = nil
}
let waits = [
  waitWhileFilling, waitWhileMapping, waitWhileCopying, waitWhileGrouping, waitWhileSorting, waitWhileEmptyingAnArray,
  waitWhileRemovingFromAnArray, waitWhileDestroyingAnArray, waitWhileEmptyingATable, waitWhileDestroyingATable,
  waitWhileDestroyingAnObject,
]
for body in waits {
  Thread { body() }.start()
  waiting.wait()
}
for _ in 0..<3 {
  let shelf = Shelf(0)
  Thread { shelf.change() }.start()
}
Thread {
  for round in 0... {
    bare.pointee.append(Item(round))
    if round % 2 == 0 { _ = bare.pointee.popLast() }
    if bare.pointee.count > 60 { bare.pointee.removeAll(keepingCapacity: round % 3 == 0) }
  }
}.start()
usleep(200_000)
exit(0)
