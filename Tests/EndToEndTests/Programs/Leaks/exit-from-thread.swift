// A leak is reported too when a thread ends the program, with its own exit status.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=5
// EXPECT exit 7
import Foundation

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
Thread { exit(7) }.start()
sleep(100)
