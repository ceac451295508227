// Objects in memory with pages that fault when they are read although the map says that they are readable: guards, and
// what lies behind the end of a file that was cut off. What lies beside them counts, and leaks elsewhere are found.
// EXPECT leak kind=retainCycle types=App.Leaked fields=me count=1
// CASE beside-faulting-memory
// CASE beside-faulting-memory-in-a-copy
// SHELL UNDEAD_SCAN=fork exec $RUN
import Glibc

final class Node {
  var number = 1
}
final class Leaked {
  var me: Leaked?
}
let page = 4096
nonisolated(unsafe) var guards = true
// Objects whose addresses stand in each page but those that `isGap` names.
@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ pages: Int, _ isGap: (Int) -> Bool) {
  for index in 0..<pages where !isGap(index) {
    for offset in stride(from: index * page, to: (index + 1) * page, by: 64) {
      memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: offset, as: Unmanaged<Node>.self)
    }
  }
}
func install(_ memory: UnsafeMutableRawPointer, _ pages: Int, _ isGap: (Int) -> Bool) {
  for index in 0..<pages where isGap(index) {
    guards = madvise(memory + index * page, page, 102) == 0 && guards  // MADV_GUARD_INSTALL, since Linux 6.13
  }
}

var first: UnsafeMutableRawPointer?
posix_memalign(&first, page, 64 * page)
install(first!, 64) { $0 % 3 == 1 }
fill(first!, 64) { $0 % 3 == 1 }
var second = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 16)
let inside = UnsafeMutableRawPointer(bitPattern: (UInt(bitPattern: second) + 20_000) & ~4095)!
install(inside, 1) { _ in true }
fill(inside - page, 3) { $0 == 1 }
let own = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
install(own, 20) { $0 % 8 == 0 }
fill(own, 20) { $0 % 8 == 0 }

// The middle of this block is of a file that is shorter by now.
var third: UnsafeMutableRawPointer?
posix_memalign(&third, page, 16 * page)
let file = "/dev/shm/undead-faulting-\(getpid())"
let descriptor = open(file, O_RDWR | O_CREAT, 0o600)
ftruncate(descriptor, off_t(4 * page))
precondition(
  mmap(third! + 4 * page, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, descriptor, 0) != MAP_FAILED)
ftruncate(descriptor, off_t(page))
unlink(file)
fill(third!, 16) { 5...7 ~= $0 }
print(guards ? "guards" : "no guards")
@inline(never) @_optimize(none) func leak() {
  let a = Leaked()
  a.me = a
}
leak()
print("leaked")
