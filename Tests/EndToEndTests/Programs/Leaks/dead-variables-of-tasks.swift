// Cycles that only dead variables of suspended tasks name are leaks of their own.
// EXPECT leak kind=retainCycle types=App.Node fields=itself count=12 at=node
// EXPECT leak kind=unreferenced count=6 at=task
// HEADER ../Support/waiting.h
final class Node {
  var itself: Node?
  var value = 1
}
nonisolated(unsafe) var sum = 0

@inline(never) @_optimize(none) func make() -> Node {
  let node = Node()  // @node
  node.itself = node
  return node
}
@inline(never) @_optimize(none) func use(_ node: Node) async -> Int {
  await Task.yield()
  return node.value
}
@_optimize(none) func leave() async {
  do {
    let node = make()
    sum += await use(node)
    let other = make()
    sum += await use(other)
  }
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  print("never")
}
for _ in 0..<6 {
  Task.detached { await leave() }  // @task
}
while sum < 12 { await Task.yield() }
wait_until_others_sleep()
print(sum)
