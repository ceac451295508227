// Numbers and what looks like them in the names of variables own objects that also hold themselves.
// EXPECT silent
final class Node {
  var me: Node?
  init() { me = self }
}
// Their mangled names end like those of variables of ObjectIdentifier and of Swift.UInt64.
enum CSS {
  case none
  case node(Node)
}
enum Tools {
  struct UInt64 { var node: Node }
  nonisolated(unsafe) static var s6UInt64 = UInt64(node: Node())
}
nonisolated(unsafe) var style = CSS.none
struct Both {
  var number = 1
  var node: Node?
}
nonisolated(unsafe) private var both = Both()
nonisolated(unsafe) var pair: (Int, Node?, UInt) = (0, nil, 0)
nonisolated(unsafe) var either: Either = .number(0)
enum Either {
  case number(UInt)
  case node(Node)
}
nonisolated(unsafe) var owner: UInt = 0
nonisolated(unsafe) var anyOwner: Any = 0
nonisolated(unsafe) var pointer: UnsafeMutableRawPointer?
nonisolated(unsafe) var memory: UInt = 0

func retained(_ node: Node) -> UInt { UInt(bitPattern: Unmanaged.passRetained(node).toOpaque()) }
@inline(never) func make() {
  style = .node(Node())
  both.node = Node()
  pair = (1, Node(), retained(Node()))
  either = .node(Node())
  owner = retained(Node())
  anyOwner = retained(Node())
  pointer = Unmanaged.passUnretained(Node()).toOpaque()
  // Memory without a count, known by a number alone, keeps what it holds.
  let room = UnsafeMutablePointer<Unmanaged<Node>>.allocate(capacity: 1)
  room.initialize(to: .passUnretained(Node()))
  memory = UInt(bitPattern: room)
}
make()
let node = Unmanaged<Node>.fromOpaque(pointer!).takeUnretainedValue()
print(owner != 0, both.number, pair.0, node.me === node, memory != 0)
