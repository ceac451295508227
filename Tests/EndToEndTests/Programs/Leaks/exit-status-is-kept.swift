// The program's own exit status wins over that of the finding.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1
// EXPECT exit 3
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
make()
exit(3)
