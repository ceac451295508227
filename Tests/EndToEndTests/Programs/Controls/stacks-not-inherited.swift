// Stacks of threads in memory that a forked copy of the program would not have, or would share with it.
// EXPECT silent
// SHELL UNDEAD_SCAN=fork exec $RUN
import Glibc

final class Node {
  var number = 1
  var me: Node?
  init() { me = self }
}
nonisolated(unsafe) var ready = [Int32](repeating: 0, count: 2)
@inline(never) func use(_ node: Node) { node.number += 1 }

// What the thread holds lies nowhere but on its stack.
@inline(never) func run() {
  let node = Node()
  use(node)
  var byte: UInt8 = 1
  write(ready[1], &byte, 1)
  pause()
  use(node)
}
pipe(&ready)
let size = 1 << 20
for kind in 0..<3 {
  let sharing = kind == 2 ? MAP_SHARED : MAP_PRIVATE
  let memory = mmap(nil, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0)!
  if kind < 2 { madvise(memory, size, Int32(kind == 0 ? MADV_DONTFORK : MADV_WIPEONFORK)) }
  var attributes = pthread_attr_t()
  pthread_attr_init(&attributes)
  pthread_attr_setstack(&attributes, memory, size)
  var thread = pthread_t()
  pthread_create(
    &thread, &attributes,
    { _ in
      run()
      return nil
    }, nil)
}
var bytes = [UInt8](repeating: 0, count: 3)
var got = 0
while got < 3 { got += read(ready[0], &bytes, 3 - got) }
print("waiting")
