// Memory of the program that looks like malloc's: a heap of a thread's arena by its place and header, a list of free chunks.
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
let heapBytes = 64 << 20
let mapped = mmap(nil, 2 * heapBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)!
let heap = UnsafeMutableRawPointer(bitPattern: (UInt(bitPattern: mapped) + UInt(heapBytes) - 1) & ~UInt(heapBytes - 1))!
let words = heap.bindMemory(to: UInt.self, capacity: 512)
words[0] = UInt(bitPattern: heap + 32)  // the arena
words[1] = 0  // the heap before this one
words[2] = 1 << 20  // sizes
words[3] = 1 << 20
fill(heap + 8192, 500)

// A chunk with a size, and its size again behind it, whose follower says that it is free; in a ring with its list.
let chunk = heap + (2 << 20)
let list = chunk + 8192
chunk.storeBytes(of: 4097, toByteOffset: 8, as: UInt.self)
chunk.storeBytes(of: list - 16, toByteOffset: 16, as: UnsafeMutableRawPointer.self)
chunk.storeBytes(of: list - 16, toByteOffset: 24, as: UnsafeMutableRawPointer.self)
chunk.storeBytes(of: 4096, toByteOffset: 4096, as: UInt.self)
chunk.storeBytes(of: 4096, toByteOffset: 4104, as: UInt.self)
list.storeBytes(of: chunk, as: UnsafeMutableRawPointer.self)
list.storeBytes(of: chunk, toByteOffset: 8, as: UnsafeMutableRawPointer.self)
fill(chunk + 32, 200)

// Pages that fault in the middle of memory that may be read.
let guarded = mmap(nil, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
fill(guarded + 65536, 500)
madvise(guarded + 32768, 4096, 102)  // MADV_GUARD_INSTALL, where the kernel has it
print("mapped")
