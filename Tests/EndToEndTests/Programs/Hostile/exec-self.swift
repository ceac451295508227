// The program replaces itself twice; only the last image is asked for leaks.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=3
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
for _ in 0..<3 { make() }
let round = CommandLine.arguments.count
print("image", round)
fflush(stdout)
if round < 3 {
  let arguments = CommandLine.arguments + ["again"]
  execv("/proc/self/exe", arguments.map { strdup($0) } + [nil])
}
