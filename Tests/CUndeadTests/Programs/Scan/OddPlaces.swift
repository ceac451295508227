// What is held in places of its own.
import Foundation

func holdInOddPlaces() {
  for shared in [false, true] {
    let memory = map_memory(1 << 20, shared)!.bindMemory(to: UnsafeMutableRawPointer.self, capacity: 200)
    for index in 0..<100 { memory[index] = passRetained() }
  }
  for _ in 0..<3 { start_thread_with_value(passRetained()) }
  for kind in [GENERAL_REGISTER, VECTOR, UPPER_VECTOR, WIDE_VECTOR, FURTHER_VECTOR] {
    start_thread_with_register(passRetained(), kind)
  }
  start_thread_on_other_stack(passRetained())
}

nonisolated(unsafe) var hiddenChild: UInt = 0

/// A node that the thread owns once, as its own value, and that the returned one owns once.
@inline(never) func makeOwned() -> Node {
  var key = pthread_key_t()
  pthread_key_create(&key, nil)
  let owner = Node()
  owner.next = Node()
  pthread_setspecific(key, Unmanaged.passRetained(owner).toOpaque())
  hiddenChild = ~UInt(bitPattern: Unmanaged.passUnretained(owner.next!).toOpaque())
  let other = Node()
  other.next = owner
  return other
}

func ownByThread() {
  Thread.detachNewThread {
    let other = makeOwned()
    while true { withExtendedLifetime(other) { _ = pause() } }
  }
}
