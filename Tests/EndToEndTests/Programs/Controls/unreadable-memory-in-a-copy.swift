// Objects that only memory knows which the program may not read at the moment, and which no copy of it may ever read: sealed.
// EXPECT silent
// SHELL UNDEAD_SCAN=fork exec $RUN
import Glibc

final class Node {
  var number = 1
}
@_silgen_name("syscall") func call(_ number: Int, _ first: UnsafeMutableRawPointer, _ second: Int, _ third: Int) -> Int
@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ count: Int) {
  for index in 0..<count {
    memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * 16, as: Unmanaged<Node>.self)
  }
}
for seals in [false, true] {
  let memory = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
  fill(memory + 8192, 500)
  mprotect(memory, 1 << 20, PROT_NONE)
  let mseal = 462  // since Linux 6.10
  if seals { _ = call(mseal, memory, 1 << 20, 0) }
}
var block: UnsafeMutableRawPointer?
posix_memalign(&block, 4096, 64 * 4096)
fill(block!, 1000)
mprotect(block!, 4096, PROT_NONE)
mprotect(block! + 8192, 4096, PROT_NONE)
// What is not inherited, and not readable either.
let lost = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
fill(lost + 4096, 500)
madvise(lost, 1 << 20, Int32(MADV_WIPEONFORK))
mprotect(lost, 1 << 20, PROT_NONE)
print("protected")
