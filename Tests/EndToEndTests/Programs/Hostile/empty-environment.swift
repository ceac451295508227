// Started with an empty environment.
// SHELL exec env -i $RUN
// EXPECT leak kind=retainCycle types=App.Node fields=next count=2
final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}
for _ in 0..<2 { make() }
print("bare")
