// A server starts a worker in a sandbox, as sshd does: the worker cannot be checked, and the report says so.
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

@_silgen_name("fork") func makeCopy() -> pid_t
print("begin")
fflush(stdout)
let worker = makeCopy()
if worker == 0 {
  renounce_privileges()
  _ = set_filter(narrow_filter(nil, 0, kill_process))
  for _ in 0..<3 { make() }
  exit(7)
}
var status: Int32 = 0
waitpid(worker, &status, 0)
print(status >> 8)
for _ in 0..<2 { make() }
