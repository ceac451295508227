// Guards in the middle of a live block come and go: a page that could not be read can be read a moment later.
// EXPECT silent
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
typealias Scan = @convention(c) (Bool, Bool, UnsafeRawPointer?, UnsafeMutableRawPointer) -> Void
if let symbol = dlsym(nil, "undead_test_scan") {
  let scan = unsafeBitCast(symbol, to: Scan.self)
  // undead_test_scan_counts: what leaked is the first, the error the second.
  let counts = UnsafeMutablePointer<UInt32>.allocate(capacity: 256)
  var failed: UInt32 = 0
  for index in 0..<20 {
    scan(index % 2 == 0, false, nil, counts)
    failed += counts[0] + counts[1]
  }
  counts.deallocate()
  if failed > 0 { fputs("\(failed) leaks and errors\n", stderr) }
}
print("asked")
exit(0)
