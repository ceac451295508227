// The program allows itself a dozen system calls, on pain of death, and then works on.
// EXPECT unchecked
// HEADER ../Support/sandbox.h
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
print("begin")
renounce_privileges()
print(set_filter(narrow_filter(nil, 0, kill_process)))
var nodes = (0..<20_000).map { _ in Node() }
nodes.removeAll { _ in true }
make()
print(nodes.count)
