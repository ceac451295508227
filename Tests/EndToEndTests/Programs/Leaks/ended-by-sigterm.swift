// SIGTERM would kill the program: the report is made first, and the signal still ends the program.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=5
// EXPECT signal 15
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
for _ in 0..<5 { make() }
kill(getpid(), SIGTERM)
sleep(100)
