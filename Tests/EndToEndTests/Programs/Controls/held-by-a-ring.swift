// Objects and memory that only an io_uring knows: entries that were not submitted, completions that nobody took, those for which
// there was no room in the ring, and buffers that were registered.
// EXPECT silent
import Glibc

final class Node {
  var number = 1
}
@_silgen_name("syscall") func call(
  _ number: Int, _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int
) -> Int
@_silgen_name("mmap") func map(_ at: Int, _ size: Int, _ access: Int32, _ flags: Int32, _ file: Int32, _ offset: Int)
  -> UnsafeMutableRawPointer

// struct io_uring_params: where the parts of the rings lie is reported behind its first 40 bytes.
let setup = 425
let enter = 426
let register = 427
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
  for index in 0..<Int(40) {
    let slot = index % entries
    let entry = submissions + slot * 64  // struct io_uring_sqe: NOP, user_data at 32
    entry.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
    entry.storeBytes(of: Unmanaged.passRetained(Node()), toByteOffset: 32, as: Unmanaged<Node>.self)
    rings.storeBytes(of: UInt32(slot), toByteOffset: array + slot * 4, as: UInt32.self)
    rings.storeBytes(of: UInt32(index + 1), toByteOffset: tail, as: UInt32.self)
    // 32 of them are done: 16 have room in the ring. The last eight wait for being submitted.
    if index < 32 { _ = call(enter, ring, 1, 0, 0, 0, 0) }
  }
  let buffers = UnsafeMutablePointer<iovec>.allocate(capacity: 3)
  for index in 0..<3 {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 8192, alignment: 16)
    memory.storeBytes(of: Unmanaged.passRetained(Node()), as: Unmanaged<Node>.self)
    buffers[index] = iovec(iov_base: memory, iov_len: 8192)
  }
  _ = call(register, ring, 0, Int(bitPattern: buffers), 3, 0, 0)
  buffers.update(repeating: iovec(), count: 3)
  buffers.deallocate()
}
if ring >= 0 { fill() }
print("filled")
