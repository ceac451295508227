// Many threads end the process at the same moment.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1
import Foundation

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
for _ in 0..<12 {
  Thread.detachNewThread {
    usleep(1000)
    exit(0)
  }
}
while true { sleep(1) }
