// Numbers that are the only words that name an object, which something else owns by its count.
// EXPECT silent
import Foundation

final class Keeper {
  var itself: Keeper?
  var parts: [Keeper] = []
  var value = 7
}
nonisolated(unsafe) var handles: [UInt64] = []
nonisolated(unsafe) var packed: [Double] = []
nonisolated(unsafe) var bytes: [UInt8] = []

@inline(never) func retained() {
  let keeper = Keeper()
  keeper.parts = [Keeper(), Keeper()]
  handles.append(UInt64(UInt(bitPattern: Unmanaged.passRetained(keeper).toOpaque())))
}
// Refers to itself too: one reference more than its own.
@inline(never) func retainedCycle() {
  let keeper = Keeper()
  keeper.itself = keeper
  keeper.parts = [keeper, Keeper()]
  handles.append(UInt64(UInt(bitPattern: Unmanaged.passRetained(keeper).toOpaque())))
}
@inline(never) func rawMemory() {
  let memory = UnsafeMutablePointer<Keeper>.allocate(capacity: 2)
  memory.initialize(repeating: Keeper(), count: 2)
  handles.append(UInt64(UInt(bitPattern: memory)))
}
@inline(never) func boxedInNumber() {
  let address = UInt64(UInt(bitPattern: Unmanaged.passRetained(Keeper()).toOpaque()))
  packed.append(Double(bitPattern: 0xFFFC_0000_0000_0000 | address))
}
@inline(never) func inBytes() {
  var address = UInt64(UInt(bitPattern: Unmanaged.passRetained(Keeper()).toOpaque()))
  bytes.append(0x17)
  withUnsafeBytes(of: &address) { bytes.append(contentsOf: $0) }
}
@inline(never) func inMemoryOfRecords() {
  // Records without padding: an event mask and a pointer behind it.
  let records = UnsafeMutableRawPointer.allocate(byteCount: 12 * 4, alignment: 4)
  for index in 0..<4 {
    let address = UInt64(UInt(bitPattern: Unmanaged.passRetained(Keeper()).toOpaque()))
    records.storeBytes(of: UInt32(1), toByteOffset: 12 * index, as: UInt32.self)
    records.storeBytes(of: address, toByteOffset: 12 * index + 4, as: UInt64.self)
  }
  handles.append(UInt64(UInt(bitPattern: records)))
}
for _ in 0..<4 {
  retained()
  retainedCycle()
  rawMemory()
  boxedInNumber()
  inBytes()
  inMemoryOfRecords()
}
print(handles.count, packed.count, bytes.count)
