// The program ends while eight threads make, move and free objects, which takes them into the instrument all the time; also on one
// processor that others keep busy: they get there hardly ever.
// EXPECT silent
// CASE exit-while-allocating
// CASE exit-on-busy-processor
// SHELL own=$$; { taskset -pc 0 $own; for i in 1 2 3 4; do while kill -0 $own; do :; done & done; } >/dev/null 2>&1; exec $RUN
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
