// Guards in the middle of a live block come and go: a page that could not be read can be read a moment later.
// EXPECT silent
// HEADER ../Support/scan.h
import Glibc

final class Node {
  var number = 1
}
let page = 4096
var block: UnsafeMutableRawPointer?
posix_memalign(&block, page, 64 * page)
for index in 0..<64 where index % 8 != 4 {
  for offset in stride(from: index * page, to: (index + 1) * page, by: 64) {
    block!.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: offset, as: Unmanaged<Node>.self)
  }
}
nonisolated(unsafe) let memory = block!
var thread = pthread_t()
pthread_create(
  &thread, nil,
  { _ in
    let install: Int32 = 102
    let remove: Int32 = 103
    while true {
      for advice in [install, remove] {
        for index in stride(from: 4, to: 64, by: 8) { madvise(memory + index * page, page, advice) }
        usleep(300)
      }
    }
  }, nil)
var failed: UInt32 = 0
for index in 0..<20 {
  let found = undead_test_result(index % 2 == 0, false)
  failed += found.leaked + found.error
}
if failed > 0 { fputs("\(failed) leaks and errors\n", stderr) }
print("asked")
exit(0)
