// Mutex, atomics, ManagedBuffer, noncopyable types, lazy references.
// EXPECT silent
import Synchronization

final class Value: Sendable {
  let number = 3
}
struct Handle: ~Copyable {
  let value = Value()
  deinit { print("handle closed") }
}
final class Owner: @unchecked Sendable {
  let mutex = Mutex<[Value]>([])
  let count = Atomic<Int>(0)
  let lazy = AtomicLazyReference<Value>()
  let optional = Mutex<Value?>(nil)
  let handle = Handle()
}
final class Ring: ManagedBuffer<Int, Value> {
  deinit { _ = withUnsafeMutablePointers { $1.deinitialize(count: $0.pointee) } }
}
struct Stack: ~Copyable {
  var values: [Value] = []
  mutating func push(_ value: Value) { values.append(value) }
}
let owner = Owner()
let global = Mutex<[Int: Value]>([:])
var buffers: [ManagedBuffer<Int, Value>] = []
var stack = Stack()
var grid: InlineArray<4, Value> = [Value(), Value(), Value(), Value()]

@inline(never) func fill() {
  for index in 0..<20 {
    owner.mutex.withLock { $0.append(Value()) }
    owner.count.add(1, ordering: .relaxed)
    global.withLock { $0[index] = Value() }
    let buffer = Ring.create(minimumCapacity: 8) { _ in 8 }
    buffer.withUnsafeMutablePointerToElements { elements in
      for element in 0..<8 { (elements + element).initialize(to: Value()) }
    }
    buffers.append(buffer)
    stack.push(Value())
  }
  _ = owner.lazy.storeIfNil(Value())
  owner.optional.withLock { $0 = Value() }
}
fill()
print(buffers.count, owner.count.load(ordering: .relaxed), grid[2].number, stack.values.count)
