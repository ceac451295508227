// Existentials in collections keep nothing of the larger value that they held before.
// EXPECT leak kind=retainCycle types=App.Node fields=itself count=8 at=list
// EXPECT leak kind=retainCycle types=App.Node fields=itself count=8 at=table
final class Node {
  var itself: Node?
  var number = 1
}
struct Three {
  var first: Node
  var second: Node
  var third: Node
}
nonisolated(unsafe) var list: [Any] = []
nonisolated(unsafe) var table: [String: Any] = [:]
nonisolated(unsafe) var alive: [Any] = []

@inline(never) func replace(_ index: Int, _ value: Any) { list[index] = value }
@inline(never) func fillList() {
  for index in 0..<4 {
    let first = Node()  // @list
    let second = Node()  // @list
    let live = Node()  // @list
    first.itself = first
    second.itself = second
    list.append(Three(first: live, second: first, third: second))
    replace(index, index)
  }
}
@inline(never) func fillTable() {
  for index in 0..<4 {
    let first = Node()  // @table
    let second = Node()  // @table
    let live = Node()  // @table
    first.itself = first
    second.itself = second
    table["\(index)"] = Three(first: live, second: first, third: second)
    table["\(index)"] = index
    alive.append(Three(first: Node(), second: Node(), third: Node()))
    alive.append((Node(), index))
  }
}
@inline(never) func scrub(_ depth: Int) {
  var bytes = [UInt8](repeating: 1, count: 4096)
  bytes[depth] = 2
  if depth > 0 { scrub(depth - 1) }
}
fillList()
fillTable()
scrub(20)
print(list.count, table.count, alive.count)
