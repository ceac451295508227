// Children of children, while threads allocate; every status is checked.
// EXPECT silent
import Glibc

@_silgen_name("fork") func forkProcess() -> Int32

final class Node {
  var bytes = [UInt8](repeating: 1, count: 100)
}
// The runtime's own caches are filled before there are threads: a fork in the middle of that would hang anywhere.
var warm = (0..<10).map { _ in Node() }
warm.removeAll()
for _ in 0..<3 {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      while true {
        var nodes: [Node] = []
        for _ in 0..<100 { nodes.append(Node()) }
        withExtendedLifetime(nodes) {}
      }
    }, nil)
}
var wrong = 0
for round in 0..<60 {
  let child = forkProcess()
  if child == 0 {
    var nodes: [Node] = []
    for _ in 0..<200 { nodes.append(Node()) }
    if round % 10 == 0 {
      let grandchild = forkProcess()
      if grandchild == 0 { _exit(9) }
      var status: Int32 = 0
      waitpid(grandchild, &status, 0)
      if status != 9 << 8 { _exit(1) }
    }
    _exit(Int32(round % 7))
  }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  if status != Int32(round % 7) << 8 { wrong += 1 }
}
print("wrong", wrong)
