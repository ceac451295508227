// However the program ends, the report is made first, and the program's own status wins over that of the finding.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=5
// CASE exit-status-is-kept
// ARGS exit
// EXPECT exit 3
// CASE exit-from-thread
// ARGS thread
// EXPECT exit 7
// CASE ended-by-sigterm
// ARGS signal
// EXPECT signal 15
// CASE main-thread-ends-first
// ARGS last
import Foundation

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}
for _ in 0..<5 { make() }
switch CommandLine.arguments[1] {
case "exit": exit(3)
case "thread":
  Thread { exit(7) }.start()
  sleep(100)
case "signal":
  kill(getpid(), SIGTERM)
  sleep(100)
default:
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      usleep(100_000)
      return nil
    }, nil)
  pthread_exit(nil)
}
