// The program keeps what it has, and allows itself nothing more: no process, file, descriptor, or byte of a file.
// The check of its end takes what it needs.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=2
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
print("begin")
for _ in 0..<2 { make() }
for resource: Int32 in [1, 6, 7, 11] {  // RLIMIT_FSIZE, NPROC, NOFILE, SIGPENDING
  var limit = rlimit()
  getrlimit(resource, &limit)
  limit.rlim_cur = resource == 1 ? 4096 : 0
  print(setrlimit(resource, &limit))
}
print(open("/dev/null", O_RDONLY), errno == EMFILE)
