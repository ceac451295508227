// Most system calls fail with EPERM, also getpid and clock_gettime.
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
print(set_filter_by_system_call(0, narrow_filter(nil, 0, fail)))
var nodes = (0..<20_000).map { _ in Node() }
nodes.removeAll { _ in true }
make()
print(nodes.count)
