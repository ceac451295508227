// The program makes a PID namespace for its children, where threads and processes have other numbers than in /proc. Its
// own thread cannot make other threads from then on: no check is possible, and nothing else changes.
// EXPECT any
import Glibc

final class Node {
  var next: Node?
  func wait() { while true { pause() } }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}
@_silgen_name("unshare") func unshare(_ flags: Int32) -> Int32
@_silgen_name("fork") func makeCopy() -> pid_t

/// A thread that alone holds an object.
func startHolder() {
  var thread = pthread_t()
  let node = Unmanaged.passRetained(Node()).toOpaque()
  let started = pthread_create(
    &thread, nil,
    { context in
      Unmanaged<Node>.fromOpaque(context!).takeRetainedValue().wait()
      return nil
    }, node)
  if started != 0 { Unmanaged<Node>.fromOpaque(node).release() }
  usleep(10_000)
}

let isPrivileged = unshare(0x2000_0000) == 0
fflush(stdout)
let child = makeCopy()
if child == 0 {
  startHolder()
  startHolder()
  exit(!isPrivileged || getpid() == 1 ? 5 : 6)
}
var status: Int32 = 0
waitpid(child, &status, 0)
print(status >> 8)
for _ in 0..<3 { make() }
