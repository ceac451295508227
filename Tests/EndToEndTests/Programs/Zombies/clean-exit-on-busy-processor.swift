// The program ends while threads make and free objects, which takes them into the instrument all the time, on one
// processor that others keep busy: they get there hardly ever.
// EXPECT silent
// SHELL own=$$; { taskset -pc 0 $own; for i in 1 2 3 4; do while kill -0 $own; do :; done & done; } >/dev/null 2>&1; exec $RUN
import Foundation

class Node {
  var next: Node?
  var number: Int
  init(_ number: Int) { self.number = number }
}

let started = DispatchSemaphore(value: 0)
for _ in 0..<8 {
  Thread {
    var list: Node?
    var number = 0
    started.signal()
    while true {
      number += 1
      let node = Node(number)
      node.next = list
      list = number % 50 == 0 ? nil : node
    }
  }.start()
}
for _ in 0..<8 { started.wait() }
usleep(100_000)
exit(0)
