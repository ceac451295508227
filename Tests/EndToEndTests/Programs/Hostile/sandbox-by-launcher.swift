// The program is started in a sandbox that allows all but tracing.
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

if CommandLine.argc == 1 {
  renounce_privileges()
  print(set_filter(filter_against(UInt32(SYS_ptrace))))
  fflush(stdout)
  let path = CommandLine.unsafeArgv[0]
  execv("/proc/self/exe", [path, strdup("again"), nil])
}
for _ in 0..<2 { make() }
print("again")
