// Objects that only mapped memory, C user data and packed pointers know.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
let mapped = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
var allocated = UnsafeMutablePointer<Node>.allocate(capacity: 10)
var raw = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 64)
var interior: UnsafeMutablePointer<Int>?

@inline(never) func fill() {
  let slots = mapped.bindMemory(to: UnsafeMutableRawPointer?.self, capacity: 1024)
  for index in 0..<50 { slots[index * 3] = Unmanaged.passRetained(Node()).toOpaque() }
  for index in 0..<10 { (allocated + index).initialize(to: Node()) }
  raw.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: 64, as: Unmanaged<Node>.self)
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 100)
  interior = numbers + 40
}
fill()
var argument = pthread_t()
pthread_create(
  &argument, nil,
  { pointer in
    let node = Unmanaged<Node>.fromOpaque(pointer!)
    while node.takeUnretainedValue().number == 1 { usleep(1000) }
    return nil
  }, Unmanaged.passRetained(Node()).toOpaque())
putenv(strdup("UNUSED=1")!)
print("mapped")
