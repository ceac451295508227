// Everything that dies is soon evicted, on several threads.
// OPTIONS --zombie-count 64 --zombie-age 5ms
// EXPECT silent
import Foundation

class Item {
  var values = [1, 2, 3]
  weak var next: Item?
  unowned var owner: Owner
  init(_ owner: Owner) { self.owner = owner }
  func sum() -> Int { values.reduce(0, +) + owner.number }
}

final class Owner: Sendable {
  let number = 4
}

@inline(never) @_optimize(none) func work(_ owner: Owner) -> Int {
  let first = Item(owner)
  let second = Item(owner)
  first.next = second
  second.next = first
  return first.sum() + (first.next?.sum() ?? 0)
}

let totals = UnsafeMutableBufferPointer<Int>.allocate(capacity: 4)
totals.initialize(repeating: 0)
nonisolated(unsafe) let results = totals
DispatchQueue.concurrentPerform(iterations: 4) { index in
  let owner = Owner()
  for _ in 0..<5000 { results[index] += work(owner) }
}
print(totals.reduce(0, +))
totals.deallocate()
