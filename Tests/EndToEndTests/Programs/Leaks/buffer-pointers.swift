// Buffers in all their forms that are never deallocated.
// EXPECT leak kind=unreferenced types=raw*memory count=3 at=buffer
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=raw
// EXPECT leak kind=unreferenced types=raw*memory count=2 at=aligned
// EXPECT leak kind=unreferenced types=App.Header count=2
final class Header: ManagedBuffer<Int, UInt8> {}

@inline(never) func buffer() -> Int {
  let buffer = UnsafeMutableBufferPointer<Int>.allocate(capacity: 50)  // @buffer
  buffer.initialize(repeating: 4)
  return buffer[7]
}
@inline(never) func raw() -> UInt8 {
  let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 300, alignment: 8)  // @raw
  bytes[0] = 3
  return bytes[0] &+ bytes[1]
}
@inline(never) func aligned() -> Int {
  let pointer = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 256)  // @aligned
  pointer.storeBytes(of: 5, as: Int.self)
  return pointer.load(as: Int.self)
}
@inline(never) func managed() -> Int {
  let header = Header.create(minimumCapacity: 30) { _ in 30 }
  return Unmanaged.passRetained(header).takeUnretainedValue().capacity
}
var total = 0
for _ in 0..<3 { total += buffer() }
for _ in 0..<2 { total += Int(raw()) }
for _ in 0..<2 { total += aligned() }
for _ in 0..<2 { total += managed() }
print(total > 0)
