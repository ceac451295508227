// Objects that only memory knows which the program may not read at the moment: an arena that it protects, a page in the
// middle of a block of malloc.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ count: Int) {
  for index in 0..<count {
    memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * 16, as: Unmanaged<Node>.self)
  }
}
let arena = mmap(nil, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
fill(arena + (1 << 20), 200)
fill(arena + (1 << 29), 200)
mprotect(arena, 1 << 30, PROT_NONE)
let shared = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
fill(shared + 8192, 100)
mprotect(shared, 1 << 20, PROT_NONE)
let writeOnly = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
fill(writeOnly, 100)
mprotect(writeOnly, 8192, PROT_EXEC)

var block: UnsafeMutableRawPointer?
posix_memalign(&block, 4096, 64 * 4096)
fill(block!, 1000)
mprotect(block!, 4096, PROT_NONE)
mprotect(block! + 8192, 4096, PROT_NONE)
var unaligned = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 16)
fill(unaligned, 10_000)
let page = UnsafeMutableRawPointer(bitPattern: (UInt(bitPattern: unaligned) + 20_000) & ~4095)!
mprotect(page, 4096, PROT_NONE)
print("protected")
