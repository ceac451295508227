// References as numbers, with bits of the program's own in them, in shared memory and in many thread keys.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
var numbers: [UInt] = []
var tagged: UInt = 0
let shared = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)!
var keys: [pthread_key_t] = []

@inline(never) func bits(_ node: Node) -> UInt { UInt(bitPattern: Unmanaged.passRetained(node).toOpaque()) }

@inline(never) func fill() {
  for tag in 0..<8 as Range<UInt> { numbers.append(bits(Node()) | tag) }
  for tag in 0..<8 as Range<UInt> { numbers.append(bits(Node()) | tag << 56) }
  tagged = bits(Node()) | 1
  let words = shared.bindMemory(to: UInt.self, capacity: 512)
  for index in 0..<100 { words[index * 5] = bits(Node()) }
  for _ in 0..<100 {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    pthread_setspecific(key, Unmanaged.passRetained(Node()).toOpaque())
    keys.append(key)
  }
}
fill()
print(numbers.count, keys.count)
