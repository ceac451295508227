// Optimised functions wait with objects that own themselves, and that they have shown to nobody: the retain for later uses stands behind
// the call, so that the count says nothing of the frame.
// HEADER ../Support/waiting.h
// CASE borrowed-by-frames
// EXPECT silent
// CASE borrowed-by-frames-of-unknown-makers
// EXPECT silent
// OPTIONS --stacks none
import Foundation

final class Node {
  var next: Node?
  var list: [Node] = []
  var call: (() -> Void)?
  let value: Int
  init(_ value: Int) { self.value = value }
}

let ready = DispatchSemaphore(value: 0)
@inline(never) @_optimize(none) func wait() {
  ready.signal()
  pause()
}
@inline(never) func makeNext(_ value: Int) -> Node {
  let node = Node(value)
  node.next = node
  wait()
  return node
}
@inline(never) func makeList(_ value: Int) -> Node {
  let node = Node(value)
  node.list = [node]
  wait()
  return node
}
@inline(never) func makeCall(_ value: Int) -> Node {
  let node = Node(value)
  node.call = { print(node.value) }
  wait()
  return node
}
let bodies: [@Sendable () -> Void] = [
  {
    let node = makeNext(1)
    node.next = nil
    print(node.value)
  },
  {
    let node = makeList(2)
    node.list = []
    print(node.value)
  },
  {
    let node = makeCall(3)
    node.call = nil
    print(node.value)
  },
]
for body in bodies { Thread(block: body).start() }
for _ in bodies { ready.wait() }
wait_until_others_sleep()
// The others wait, and would use what they made.
exit(0)
