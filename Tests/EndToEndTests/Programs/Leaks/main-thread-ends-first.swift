// The main thread ends by pthread_exit; the last thread ends the program.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=5
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
var thread = pthread_t()
pthread_create(
  &thread, nil,
  { _ in
    usleep(100_000)
    return nil
  }, nil)
pthread_exit(nil)
