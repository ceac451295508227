// The program has a handler for the system calls that it did not allow itself: it must never run.
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

var action = sigaction()
action.__sigaction_handler.sa_handler = { _ in
  _ = write(1, "trapped\n", 8)
  _exit(9)
}
sigaction(SIGSYS, &action, nil)
signal(SIGTERM, SIG_DFL)
for _ in 0..<2 { make() }
print("begin")
renounce_privileges()
print(set_filter_by_system_call(UInt32(SECCOMP_FILTER_FLAG_TSYNC), narrow_filter(nil, 0, trap)))
var nodes = (0..<20_000).map { _ in Node() }
nodes.removeAll { _ in true }
make()
print(nodes.count)
