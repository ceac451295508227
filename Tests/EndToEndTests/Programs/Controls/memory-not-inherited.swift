// Objects that only memory knows which a forked copy of the program would not have, blocks of malloc among it, or would share.
// EXPECT silent
// SHELL UNDEAD_SCAN=fork exec $RUN
import Glibc

final class Node {
  var number = 1
}
@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ count: Int) {
  for index in 0..<count {
    memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * 16, as: Unmanaged<Node>.self)
  }
}
@inline(never) func map(_ flags: Int32) -> UnsafeMutableRawPointer {
  mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0)!
}
for advice in [MADV_DONTFORK, MADV_WIPEONFORK] {
  let memory = map(MAP_PRIVATE)
  fill(memory + 4096, 500)
  madvise(memory, 1 << 20, Int32(advice))
}
fill(map(MAP_SHARED), 500)
var block: UnsafeMutableRawPointer?
posix_memalign(&block, 4096, 64 * 4096)
fill(block!, 1000)
madvise(block!, 16 * 4096, Int32(MADV_DONTFORK))
madvise(block! + 16 * 4096, 16 * 4096, Int32(MADV_WIPEONFORK))
print("mapped")
