// A signal comes while the program ends, and its handler calls exit().
// EXPECT leak kind=retainCycle types=App.Node fields=next count=100000
import Glibc

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func leak() {
  let node = Node()
  node.next = node
  use(node)
}

for _ in 0..<100_000 { leak() }
signal(SIGALRM) { _ in exit(0) }
ualarm(5000, 1000)
exit(0)
