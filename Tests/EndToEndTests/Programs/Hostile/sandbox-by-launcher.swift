// The program is started in a sandbox that allows all but tracing, or in one that allows the loader to work, and not more.
// EXPECT unchecked
// HEADER ../Support/sandbox.h
// CASE sandbox-by-launcher
// CASE narrow-sandbox-by-launcher
// FLAGS -D NARROW
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

#if NARROW
  let forStart: [UInt32] = [
    2, 4, 8, 13, 14, 16, 17, 21, 39, 59, 79, 89, 97, 131, 158, 186, 204, 218, 228, 257, 262, 273, 302, 318, 332, 334,
  ]
#endif
if CommandLine.argc == 1 {
  renounce_privileges()
  #if NARROW
    print(set_filter(narrow_filter(forStart, forStart.count, kill_process)))
  #else
    print(set_filter(filter_against(UInt32(SYS_ptrace))))
  #endif
  fflush(stdout)
  let path = CommandLine.unsafeArgv[0]
  execv("/proc/self/exe", [path, strdup("again"), nil])
}
for _ in 0..<2 { make() }
print("again")
