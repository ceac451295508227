// Objects that only memory knows which the program has locked with a protection key.
// EXPECT silent
import Glibc

@_silgen_name("pkey_alloc") func allocateKey(_ flags: UInt32, _ rights: UInt32) -> Int32
@_silgen_name("pkey_mprotect") func protect(
  _ memory: UnsafeMutableRawPointer, _ bytes: Int, _ rights: Int32, _ key: Int32
) -> Int32
@_silgen_name("pkey_set") func lock(_ key: Int32, _ rights: UInt32) -> Int32

final class Node {
  var number = 1
}
@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ count: Int) {
  for index in 0..<count {
    memory.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: index * 16, as: Unmanaged<Node>.self)
  }
}
let memory = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
fill(memory, 100)
// Without such keys in the processor the memory is not locked.
let key = allocateKey(0, 0)
if key >= 0 {
  _ = protect(memory, 8192, PROT_READ | PROT_WRITE, key)
  _ = lock(key, 1)
}
print("locked")
