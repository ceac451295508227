// Addresses above a counter of 16 bits, in words side by side; the ends of blocks that are used downwards, and places
// before those that are counted from one; doubles that are addresses, in existentials; what only the GS register holds.
// EXPECT silent
import Glibc

final class Node {
  var own: Node?
}
// Keeps itself alive, so that its count shows nothing.
@inline(never) func make() -> UnsafeMutableRawPointer {
  let node = Node()
  node.own = node
  return Unmanaged.passUnretained(node).toOpaque()
}
@inline(never) func shifted(_ counter: Int) -> UInt64 { UInt64(UInt(bitPattern: make())) << 16 | UInt64(counter) }

final class Versioned {
  var word: UInt64 = 0
  var counter: UInt64 = 12345
}
let table = UnsafeMutablePointer<UInt64>.allocate(capacity: 64)
var versioned: [Versioned] = []
final class Boxed {
  var value: Any = 0
}
var boxes: [Boxed] = []
var values: [Any] = []
@inline(never) func boxed() -> Double {
  Double(bitPattern: UInt64(UInt(bitPattern: Unmanaged.passRetained(Node()).toOpaque())) | 0xFFF8 << 48)
}
var ends: [UnsafeMutablePointer<UnsafeMutableRawPointer>] = []
var befores: [UnsafeMutablePointer<UnsafeMutableRawPointer>] = []
@inline(never) func fill() {
  for index in 0..<64 {
    table[index] = shifted(1000 + index)
    versioned.append(Versioned())
    let counted = Unmanaged.passRetained(Node()).toOpaque()
    versioned[index].word = UInt64(UInt(bitPattern: counted)) << 16 | 77
    // A number that is not one, in an existential.
    boxes.append(Boxed())
    boxes[index].value = boxed()
    values.append(boxed())
  }
  for _ in 0..<20 {
    // Sizes that malloc does not round up, so that the end is not in the block, and one that only it rounds up.
    for count in [3, 4] {
      let stack = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(capacity: count)
      for index in 0..<count { (stack + index).initialize(to: make()) }
      ends.append(stack + count)
    }
    let array = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(capacity: 8)
    for index in 0..<8 { (array + index).initialize(to: make()) }
    befores.append(array - 1)
  }
  // Nothing else lies near these.
  for _ in 0..<3 {
    var memory: UnsafeMutableRawPointer?
    precondition(posix_memalign(&memory, 1 << 28, 64) == 0)
    let array = memory!.assumingMemoryBound(to: UnsafeMutableRawPointer.self)
    array.initialize(to: make())
    befores.append(array - 1)
  }
}
@_silgen_name("arch_prctl") func setRegister(_ code: Int32, _ value: UnsafeMutableRawPointer) -> Int32
@inline(never) func fillRegister() {
  let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 8)
  memory.storeBytes(of: make(), as: UnsafeMutableRawPointer.self)
  _ = setRegister(0x1001, memory)  // ARCH_SET_GS
}
fill()
fillRegister()
exit(0)
