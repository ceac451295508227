// A ManagedBuffer whose elements hold the owner of the buffer.
// EXPECT leak kind=retainCycle types=App.Ring,App.Storage fields=storage count=3
struct Slot {
  var ring: Ring?
  var number: Int
}
final class Storage: ManagedBuffer<Int, Slot> {
  deinit {
    _ = withUnsafeMutablePointers { count, slots in slots.deinitialize(count: count.pointee) }
  }
}
final class Ring {
  var storage: ManagedBuffer<Int, Slot>?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeRing() {
  let ring = Ring()
  let storage = Storage.create(minimumCapacity: 4) { _ in 4 }
  storage.withUnsafeMutablePointerToElements { slots in
    for number in 0..<4 { (slots + number).initialize(to: Slot(ring: number == 2 ? ring : nil, number: number)) }
  }
  ring.storage = storage
  use(ring)
}
for _ in 0..<3 { makeRing() }
