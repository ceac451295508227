// Ends while four threads do little but allocate and free; leaks twenty cycles first.
import Foundation

final class Node { var next: Node? }

@inline(never) func leak() {
  let first = Node()
  let second = Node()
  first.next = second
  second.next = first
}

/// A thread's own blocks: of many sizes, a few with mappings of their own, let go in any order.
func work(_ thread: UInt64) -> Never {
  var random = thread
  var blocks: [[UInt8]] = []
  while true {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let size = random % 4001 == 0 ? 300_000 : Int(random >> 33) % 3000
    blocks.append([UInt8](repeating: 1, count: size))
    if blocks.count > 500 { blocks.remove(at: Int(random >> 20 & 0xFFFF) % blocks.count) }
    if random % 997 == 0 { blocks.removeAll() }
  }
}

for _ in 0..<20 { leak() }
for thread in 1...4 {
  Thread { work(UInt64(thread)) }.start()
}
usleep(UInt32.random(in: 20_000..<120_000))
abort()
