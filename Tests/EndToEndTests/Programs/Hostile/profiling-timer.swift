// The program profiles itself: SIGPROF with a handler, setitimer, and blocked signals in threads.
// EXPECT silent
// FLAGS -enforce-exclusivity=unchecked
import Glibc

nonisolated(unsafe) var ticks = 0
signal(SIGPROF) { _ in ticks += 1 }
var timer = itimerval(it_interval: timeval(tv_sec: 0, tv_usec: 2000), it_value: timeval(tv_sec: 0, tv_usec: 2000))
setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil)
final class Node {
  var next: Node?
}
var list: Node?
var sum = 0
while ticks < 20 {
  let node = Node()
  node.next = list
  list = sum % 100 == 0 ? nil : node
  sum += 1
}
print("ticked")
