// N threads that allocate at the same time, and give a part of what they allocate to the next one: `many_threads N`.
import Foundation

final class Item {
  let payload: [Int]
  let next: Item?

  init(payload: [Int], next: Item?) {
    self.payload = payload
    self.next = next
  }
}

let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 16
let rounds = 64_000 / count
nonisolated(unsafe) var given = [Item?](repeating: nil, count: count)
let locks = (0..<count).map { _ in NSLock() }

func work(_ index: Int) {
  for round in 0..<rounds {
    var list: Item?
    for number in 0..<50 { list = Item(payload: [round, number], next: list) }
    // Freed by the thread that has it last, with another thread's allocator.
    guard round % 8 == 0 else { continue }
    let next = (index + 1) % count
    locks[next].withLock { given[next] = list }
  }
}

let threads = (0..<count).map { index in
  let thread = Thread { work(index) }
  thread.start()
  return thread
}
while !threads.allSatisfy(\.isFinished) { usleep(1000) }
print(count)
