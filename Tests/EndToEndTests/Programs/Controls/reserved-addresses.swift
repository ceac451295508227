// Two terabytes of reserved addresses of which a few pages are in use.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@inline(never) func reserve(_ protection: Int32) -> UnsafeMutableRawPointer {
  mmap(nil, 1 << 40, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
}
@inline(never) func fill(_ memory: UnsafeMutableRawPointer) {
  for index in 0..<100 {
    memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * 24, as: Unmanaged<Node>.self)
  }
}
let open = reserve(PROT_READ | PROT_WRITE)
fill(open + (1 << 39))
fill(open + (3 << 38))
let closed = reserve(PROT_NONE)
mprotect(closed + (1 << 39), 8192, PROT_READ | PROT_WRITE)
fill(closed + (1 << 39))
print("reserved")
