// A ring of fifty thousand nodes: one leak, reported without fifty thousand edges.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1
final class Node {
  var number: Int
  var next: Node?
  init(_ number: Int) { self.number = number }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let first = Node(0)
  var last = first
  for number in 1..<50_000 {
    let node = Node(number)
    last.next = node
    last = node
  }
  last.next = first
  use(first)
}
make()
