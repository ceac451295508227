// Four threads that allocate at the same time and hand no memory to each other.
import Foundation

final class Item {
  let payload: [Int]
  let next: Item?

  init(payload: [Int], next: Item?) {
    self.payload = payload
    self.next = next
  }
}

func work(rounds: Int) -> Int {
  var sum = 0
  for round in 0..<rounds {
    var list: Item?
    for index in 0..<50 {
      list = Item(payload: [round, index], next: list)
    }
    while let item = list {
      sum &+= item.payload[1]
      list = item.next
    }
  }
  return sum
}

let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 40_000
nonisolated(unsafe) var sums = [0, 0, 0, 0]
let lock = NSLock()
DispatchQueue.concurrentPerform(iterations: 4) { index in
  let sum = work(rounds: rounds)
  lock.withLock { sums[index] = sum }
}
print(sums)
