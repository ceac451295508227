// The program gives up its rights, as daemons do.
// The new user may leave its snapshot in the session of the old one.
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
if getuid() == 0 {
  setgid(65_534)
  setuid(65_534)
}
print(open("/etc/shadow", O_RDONLY) < 0)
