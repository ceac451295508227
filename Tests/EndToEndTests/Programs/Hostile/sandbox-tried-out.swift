// The program asks whether there are sandboxes, as libseccomp does, and fails to make one: nothing changes.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=3
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
print(set_filter_by_system_call(UInt32(SECCOMP_FILTER_FLAG_TSYNC), nil), errno == EFAULT)
print(set_filter(nil), errno == EFAULT)
print(set_filter(UnsafePointer(bitPattern: 16)), errno == EFAULT)
make()
