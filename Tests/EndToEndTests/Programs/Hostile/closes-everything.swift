// The program closes every descriptor, as daemons do.
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
for descriptor in 0..<1024 { close(Int32(descriptor)) }
print("nobody hears this")
