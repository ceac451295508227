// Every signal is blocked in every thread, and ptrace is denied to others.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=2
import Glibc

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}
for _ in 0..<2 { make() }
@_silgen_name("prctl") func control(_ option: Int32, _ value: UInt) -> Int32

let setDumpable: Int32 = 4
_ = control(setDumpable, 0)
var mask = sigset_t()
sigfillset(&mask)
pthread_sigmask(SIG_SETMASK, &mask, nil)
for _ in 0..<3 {
  var thread = pthread_t()
  pthread_create(&thread, nil, { _ in while true { sleep(1) } }, nil)
}
print("blocked")
