// The program ends while eight threads make, move and free objects.
// EXPECT silent
import Foundation

final class Node {
  var next: Node?
  var text: String
  var bytes: [UInt8]
  init(_ number: Int) {
    text = "node \(number) with a text that is on the heap"
    bytes = [UInt8](repeating: 1, count: number % 300)
  }
}
let started = DispatchSemaphore(value: 0)
for seed in 0..<8 {
  Thread {
    var list: Node?
    var table: [String: Node] = [:]
    started.signal()
    var number = seed
    while true {
      number += 1
      let node = Node(number)
      node.next = list
      list = node
      table["\(number % 97)"] = Node(number)
      if number % 50 == 0 { list = nil }
      if number % 1000 == 0 { table.removeAll() }
    }
  }.start()
}
for _ in 0..<8 { started.wait() }
usleep(100_000)
exit(0)
