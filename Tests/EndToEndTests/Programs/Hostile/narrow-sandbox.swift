// The program allows itself a dozen system calls, and then works on. The others, also getpid and clock_gettime, fail with
// EPERM, end it, or are trapped: its handler for them must never run. Or it forbids itself only to trace others: what else its
// filter forbids is not known.
// EXPECT unchecked
// HEADER ../Support/sandbox.h
// CASE sandbox-that-fails
// FLAGS -D FAILS
// CASE sandbox-that-kills
// FLAGS -D KILLS
// CASE sandbox-that-traps
// FLAGS -D TRAPS
// CASE seccomp-filter
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

#if TRAPS
  var action = sigaction()
  action.__sigaction_handler.sa_handler = { _ in
    _ = write(1, "trapped\n", 8)
    _exit(9)
  }
  sigaction(SIGSYS, &action, nil)
  signal(SIGTERM, SIG_DFL)
#endif
for _ in 0..<2 { make() }
print("begin")
renounce_privileges()
#if FAILS
  print(set_filter_by_system_call(0, narrow_filter(nil, 0, fail)))
#elseif KILLS
  print(set_filter(narrow_filter(nil, 0, kill_process)))
#elseif TRAPS
  print(set_filter_by_system_call(UInt32(SECCOMP_FILTER_FLAG_TSYNC), narrow_filter(nil, 0, trap)))
#else
  print(set_filter(filter_against(UInt32(SYS_ptrace))))
#endif
var nodes = (0..<20_000).map { _ in Node() }
nodes.removeAll { _ in true }
make()
print(nodes.count)
