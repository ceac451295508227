// A million objects in one shape: `live_shapes SHAPE`, which is array, list, random, tree, cycles (rings of ten) or held (an
// array that only a variable of a function has). `leaked-SHAPE`: nothing refers to them any more.
import Glibc

final class Node {
  var next: Node?
  var other: Node?
  init(next: Node?) { self.next = next }
}

nonisolated(unsafe) var nodes: [Node] = []
nonisolated(unsafe) var first: Node?
let count = 1_000_000
let perRing = 10

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
@inline(never) func makeTree(_ size: Int) -> Node? {
  guard size > 0 else { return nil }
  let node = Node(next: makeTree((size - 1) / 2))
  node.other = makeTree(size - 1 - (size - 1) / 2)
  return node
}
@inline(never) func makeCycles() {
  for _ in 0..<count / perRing {
    let start = Node(next: nil)
    var last = start
    for _ in 1..<perRing { last = Node(next: last) }
    start.next = last
    nodes.append(start)
  }
}
@inline(never) func makeArray() { for _ in 0..<count { nodes.append(Node(next: nil)) } }
@inline(never) func hold() {
  var held: [Node] = []
  for _ in 0..<count { held.append(Node(next: nil)) }
  withExtendedLifetime(held) { exit(0) }
}
// Of what was made only this loses the last reference: nothing is freed.
@inline(never) func leak() {
  for node in nodes { _ = Unmanaged.passRetained(node) }
  nodes = []
  if let first { _ = Unmanaged.passRetained(first) }
  first = nil
}
@inline(never) func make(_ shape: String) {
  switch shape {
  case "list": first = makeList()
  case "tree": first = makeTree(count)
  case "cycles": makeCycles()
  case "random": makeRandom()
  case "array": makeArray()
  default: hold()
  }
}
// Overwrites what calls have left on the stack.
@inline(never) func clearStack(_ depth: Int) -> Int {
  withUnsafeTemporaryAllocation(of: Int.self, capacity: 512) { words in
    words.initialize(repeating: depth)
    return depth == 0 ? 0 : words[depth % 512] + clearStack(depth - 1)
  }
}

let argument = CommandLine.arguments[1]
let isLeaked = argument.hasPrefix("leaked-")
make(isLeaked ? String(argument.dropFirst("leaked-".count)) : argument)
if isLeaked { leak() }
_ = clearStack(100)
exit(0)
