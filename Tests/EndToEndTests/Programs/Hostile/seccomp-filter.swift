// The program forbids itself to trace others, on pain of death: what else its filter forbids is not known.
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
renounce_privileges()
print(set_filter(filter_against(UInt32(SYS_ptrace))))
