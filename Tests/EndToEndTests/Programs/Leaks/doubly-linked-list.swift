// A doubly linked list with strong links both ways, 200 nodes: one leak, not 199.
// EXPECT leak kind=retainCycle types=App.Node fields=next,previous count=1
final class Node {
  let value: Int
  var next: Node?
  var previous: Node?
  init(_ value: Int) { self.value = value }
}
final class List {
  var head: Node?
  var tail: Node?
  func append(_ value: Int) {
    let node = Node(value)
    if let tail {
      tail.next = node
      node.previous = tail
    } else {
      head = node
    }
    tail = node
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeList() {
  let list = List()
  for value in 0..<200 { list.append(value) }
  use(list)
}
makeList()
