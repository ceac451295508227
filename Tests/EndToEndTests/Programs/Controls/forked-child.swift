// A forked child that ends by exit still has the stacks of its parent's other threads: what these hold is no leak of its.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@_silgen_name("fork") func forkNow() -> pid_t

let ready = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
let never = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
sem_init(ready, 0, 0)
sem_init(never, 0, 0)

@inline(never) func holding(_ body: () -> Void) {
  withUnsafeTemporaryAllocation(of: Unmanaged<Node>.self, capacity: 16) { nodes in
    for index in 0..<16 { nodes.initializeElement(at: index, to: .passRetained(Node())) }
    body()
    for node in nodes { node.release() }
  }
}
@inline(never) func wait() {
  sem_post(ready)
  while sem_trywait(never) != 0 { sleep(1000) }
}
@inline(never) func start(_ function: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) {
  var thread = pthread_t()
  pthread_create(&thread, nil, function, nil)
}
for _ in 0..<4 {
  start { _ in
    holding(wait)
    return nil
  }
}
for _ in 0..<4 { sem_wait(ready) }

// The child of the main thread is checked, and one that another thread forked, whose own stack is not the first one.
func child(_ code: Int32) {
  fflush(stdout)
  let process = forkNow()
  if process == 0 { exit(code) }
  var status: Int32 = 0
  waitpid(process, &status, 0)
  print("child", status)
}
child(0)
start { _ in
  holding { child(0) }
  sem_post(ready)
  return nil
}
sem_wait(ready)
print("parent")
