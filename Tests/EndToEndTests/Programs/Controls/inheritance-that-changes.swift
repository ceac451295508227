// Forked copies get this page or they do not: a thread changes it all the time, so that what was asked is never true for long.
// EXPECT silent
// HEADER ../Support/scan.h
import Glibc

final class Node {
  var number = 1
}
let memory = mmap(nil, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
for index in 0..<500 {
  memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: 4096 + index * 16, as: Unmanaged<Node>.self)
}
nonisolated(unsafe) let page = memory + 4096
var thread = pthread_t()
pthread_create(
  &thread, nil,
  { _ in
    while true {
      for advice in [MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_DONTFORK, MADV_DOFORK] {
        madvise(page, 8192, Int32(advice))
        for _ in 0..<(getpid() % 7 * 1000 + 1) {}
      }
    }
  }, nil)
var leaked: UInt32 = 0
var errors: UInt32 = 0
for _ in 0..<30 {
  let found = undead_test_result(true, false)
  leaked += found.leaked
  errors += found.error
}
if leaked + errors > 0 { fputs("\(leaked) live objects called leaks, \(errors) errors\n", stderr) }
print("asked")
exit(0)
