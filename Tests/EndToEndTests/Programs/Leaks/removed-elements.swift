// What collections leave in the room that they do not use is no reference.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=40 at=node
final class Node {
  var next: Node?
}
struct Entry {
  var number = 1
  var node: Node
  var text = "a text that needs memory of its own"
}
struct Store {
  var entries: [Entry] = []
  var nodes: [Node] = []
  var names: [String: Node] = [:]
  var numbered: [Int: Entry] = [:]
}
nonisolated(unsafe) var store = Store()
nonisolated(unsafe) var made = 0

@inline(never) func makeNode() -> Node {
  let node = Node()  // @node
  node.next = node
  made += 1
  return node
}
@inline(never) func fill() {
  for number in 0..<10 {
    store.entries.append(Entry(node: makeNode()))
    store.nodes.append(makeNode())
    store.names["name \(number)"] = makeNode()
    store.numbered[number] = Entry(node: makeNode())
  }
}
@inline(never) func empty() {
  store.entries.removeAll(keepingCapacity: true)
  while store.nodes.popLast() != nil {}
  for name in Array(store.names.keys) { store.names[name] = nil }
  for number in 0..<10 { store.numbered.removeValue(forKey: number) }
}
fill()
empty()
print(store.entries.count, store.nodes.capacity, store.names.count, store.numbered.count, made)
