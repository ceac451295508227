// A million live objects in one shape: `live_shapes SHAPE`, which is list, random or held (by a variable of a function).
import Glibc

final class Node {
  var next: Node?
  var value = 0
  init(next: Node?) { self.next = next }
}

nonisolated(unsafe) var nodes: [Node] = []
nonisolated(unsafe) var first: Node?
let count = 1_000_000

@inline(never) func makeList() -> Node? {
  var list: Node?
  for _ in 0..<count { list = Node(next: list) }
  return list
}
@inline(never) func makeRandom() {
  var state: UInt64 = 88_172_645_463_325_252
  for _ in 0..<count { nodes.append(Node(next: nil)) }
  for node in nodes {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    node.next = nodes[Int(state % UInt64(count))]
  }
}
@inline(never) func hold() {
  var held: [Node] = []
  for _ in 0..<count { held.append(Node(next: nil)) }
  withExtendedLifetime(held) { exit(0) }
}
switch CommandLine.arguments[1] {
case "list": first = makeList()
case "random": makeRandom()
default: hold()
}
exit(0)
