// What main left on the stack lies below the frames of exit(), while one of its handlers calls exit() again.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1
// EXPECT exit 5
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

leak()
atexit { exit(5) }
