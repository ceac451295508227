// Objects that only the kernel knows, as the data of requests of an io_uring whose places in the ring were used again. That
// there are such requests means that nothing unreferenced is certain; a cycle that the counts explain is.
// EXPECT leak kind=retainCycle types=App.Leaked fields=me count=1
import Glibc

final class Node {
  var number = 1
}
@_silgen_name("syscall") func call(
  _ number: Int, _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int
) -> Int
@_silgen_name("mmap") func map(_ at: Int, _ size: Int, _ access: Int32, _ flags: Int32, _ file: Int32, _ offset: Int)
  -> UnsafeMutableRawPointer

@_silgen_name("eventfd") func makeEvent(_ n: UInt32, _ f: Int32) -> Int32
// struct io_uring_params: where the parts of the rings lie is reported behind its first 40 bytes.
let setup = 425
let enter = 426
let parameters = UnsafeMutableRawPointer.allocate(byteCount: 120, alignment: 8)
parameters.initializeMemory(as: UInt8.self, repeating: 0, count: 120)
let entries = 8
let ring = call(setup, entries, Int(bitPattern: parameters), 0, 0, 0, 0)
func place(_ offset: Int) -> Int { Int(parameters.load(fromByteOffset: offset, as: UInt32.self)) }

@inline(never) func fill() {
  let rings = map(0, 4096 * 4, 3, 1, Int32(ring), 0)  // shared: both rings
  let submissions = map(0, entries * 64, 3, 1, Int32(ring), 0x1000_0000)
  let tail = place(44)
  let array = place(64)
  for index in 0..<24 {
    let slot = index % entries
    let entry = submissions + slot * 64  // struct io_uring_sqe
    entry.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
    entry.storeBytes(of: 6, as: UInt8.self)  // POLL_ADD
    entry.storeBytes(of: makeEvent(0, 0), toByteOffset: 4, as: Int32.self)
    entry.storeBytes(of: 1, toByteOffset: 28, as: UInt32.self)
    entry.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: 32, as: Unmanaged<Node>.self)
    rings.storeBytes(of: UInt32(slot), toByteOffset: array + slot * 4, as: UInt32.self)
    rings.storeBytes(of: UInt32(index + 1), toByteOffset: tail, as: UInt32.self)
    _ = call(enter, ring, 1, 0, 0, 0, 0)
  }
}
if ring >= 0 { fill() }
final class Leaked {
  var me: Leaked?
}
@inline(never) @_optimize(none) func leak() {
  let object = Leaked()
  object.me = object
}
leak()
print("polling")
