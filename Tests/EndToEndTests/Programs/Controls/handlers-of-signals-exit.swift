// A signal's handler calls exit() while other frames of its thread own objects that also hold themselves.
// EXPECT silent
// SHELL for kind in sleep read compute sort; do $RUN $kind || exit 1; done
import Glibc

class Node {
  var me: Node?
  var number = 0
  init() { me = self }
}
protocol Part {}
struct Small: Part {
  let node: Node
  let number = 1
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// No check is possible where the handler interrupts libc or the loader: what is called next has been called before.
@inline(never) func alarmSoon() {
  usleep(1)
  sleep(0)
  ualarm(400_000, 0)
}

@inline(never) func wait(_ kind: String) {
  if kind == "read" {
    var ends: [Int32] = [0, 0]
    var byte: UInt8 = 0
    pipe(&ends)
    alarmSoon()
    while read(ends[0], &byte, 1) != 1 {}
  }
  alarmSoon()
  while true { sleep(1) }
}
@inline(never) func hold(_ kind: String, _ node: Node) {
  let other = Node()
  let part: any Part = Small(node: Node())
  let action = { other.number += node.number }
  wait(kind)
  action()
  use(node)
  use((part as! Small).node)
  // Whoever comes back from here gives up what he holds.
  node.me = nil
  other.me = nil
}
@inline(never) func compute(_ node: Node) {
  var sum = 0
  alarmSoon()
  while true { sum = sum &* 31 &+ node.number }
}
@inline(never) func sort(_ node: Node) {
  nonisolated(unsafe) let borrowed = Unmanaged.passRetained(node)
  var numbers: [Int] = [3, 1, 2]
  shared = borrowed.toOpaque()
  qsort(&numbers, 3, 8) { _, _ in
    let node = Unmanaged<Node>.fromOpaque(shared!).takeUnretainedValue()
    alarmSoon()
    while node.number == 0 { sleep(1) }
    return 0
  }
  borrowed.release()
}
nonisolated(unsafe) var shared: UnsafeMutableRawPointer?

signal(SIGALRM) { _ in exit(0) }
switch CommandLine.arguments[1] {
case "compute": compute(Node())
case "sort": sort(Node())
default: hold(CommandLine.arguments[1], Node())
}
