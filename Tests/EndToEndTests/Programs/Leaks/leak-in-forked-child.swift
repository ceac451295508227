// A child of a process with several threads leaks what it allocated itself.
// EXPECT leak kind=retainCycle types=App.Node count=50
import Glibc

final class Node {
  var next: Node?
}
@_silgen_name("fork") func forkNow() -> pid_t

@inline(never) @_optimize(none) func leak() {
  let first = Node()
  let second = Node()
  first.next = second
  second.next = first
}
var thread = pthread_t()
pthread_create(
  &thread, nil,
  { _ in
    while true { sleep(1000) }
    return nil
  }, nil)
let process = forkNow()
if process == 0 {
  for _ in 0..<50 { leak() }
  exit(0)
}
var status: Int32 = 0
waitpid(process, &status, 0)
print("waited", status)
