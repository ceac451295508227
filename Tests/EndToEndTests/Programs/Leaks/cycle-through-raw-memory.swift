// The object owns raw memory, which holds the object.
// EXPECT leak kind=retainCycle types=App.Arena fields=slots count=4
final class Arena {
  let slots: UnsafeMutablePointer<Arena?>
  init() {
    slots = .allocate(capacity: 8)
    slots.initialize(repeating: nil, count: 8)
  }
  deinit {
    slots.deinitialize(count: 8)
    slots.deallocate()
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeArena() {
  let arena = Arena()
  arena.slots[5] = arena
  use(arena)
}
for _ in 0..<4 { makeArena() }
