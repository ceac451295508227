// Objects that only memory from sbrk knows: before, between and behind what malloc takes from the same place.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@inline(never) func fill(_ memory: UnsafeMutableRawPointer) {
  for index in 0..<100 {
    memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * 24 + 8, as: Unmanaged<Node>.self)
  }
}
var blocks: [UnsafeMutableRawPointer] = []
@inline(never) func allocate() {
  for size in 1...2000 { blocks.append(malloc(size)!) }
}
fill(sbrk(8192)!)
allocate()
let large = sbrk(1 << 20)!
fill(large)
fill(large + (1 << 19))
allocate()
for index in stride(from: 0, to: blocks.count, by: 2) { free(blocks[index]) }
fill(sbrk(4096)!)
print("held")
