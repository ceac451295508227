// Live collections and fields of numbers hold the addresses of what leaked: numbers are no references.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1 at=set
// EXPECT leak kind=retainCycle types=App.Node fields=action count=1 at=array
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1 at=pair
// EXPECT leak kind=retainCycle types=App.Node,App.Holder count=1 at=dictionary
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1 at=field
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1 at=itself
protocol Part {}
final class Node: Part {
  var next: Node?
  var tag: UInt64 = 0
  var action: (() -> Void)?
}
struct State {
  var number: Int
  var node: Node?
  var part: any Part
}
final class Holder {
  var state: State
  init(_ state: State) { self.state = state }
}
final class Record { var tag: UInt64 = 0 }

nonisolated(unsafe) var identifiers = Set<ObjectIdentifier>()
nonisolated(unsafe) var list: [ObjectIdentifier] = []
nonisolated(unsafe) var words: [UInt64] = []
nonisolated(unsafe) var names: [Int: String] = [:]
nonisolated(unsafe) let record = Record()

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
func address(of object: AnyObject) -> UInt64 {
  UInt64(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
}
@inline(never) func inSet() {
  let node = Node()  // @set
  node.next = node
  identifiers.insert(ObjectIdentifier(node))
  use(node)
}
@inline(never) func inArray() {
  let node = Node()  // @array
  node.action = { node.tag += 1 }
  list.append(ObjectIdentifier(node))
  use(node)
}
@inline(never) func inWords() {
  let node = Node()  // @pair
  let other = Node()  // @pair
  node.next = other
  other.next = node
  words.append(address(of: other))
  use(node)
}
@inline(never) func inKeys() {
  let node = Node()  // @dictionary
  let holder = Holder(State(number: 1, node: nil, part: node))  // @dictionary
  node.action = { use(holder) }
  names[Int(address(of: node))] = "a name"
  use(node)
}
@inline(never) func inField() {
  let node = Node()  // @field
  node.next = node
  record.tag = address(of: node)
  use(node)
}
@inline(never) func inItself() {
  let node = Node()  // @itself
  node.next = node
  node.tag = address(of: node)
  record.tag &+= 0
  use(node)
}
inSet()
inArray()
inWords()
inKeys()
inField()
inItself()
