import CStepping

/// A call that the compiler cannot look into.
@inline(__always) func call() { stepping_call() }
@inline(never) func callFromHere() { stepping_call() }
@inline(never) func callFromHereTwice() -> Int32 {
  let (one, other) = (Node(1), Node(2))
  call()
  return Int32(one.value + other.value)
}

protocol Peer: AnyObject {
  var other: (any Peer)? { get set }
}
enum Payload {
  case none
  case one(Node)
  case two(Node, Node)
  case number(UInt64)
  indirect case nested(Payload, Node)
}
class Base: @unchecked Sendable {
  var next: Node?
  func visit() -> Int { 1 }
}
final class Node: Base, Peer, @unchecked Sendable {
  var list: [Node] = []
  var table: [Int: Node] = [:]
  var members: Set<Node> = []
  var action: (() -> Int)?
  var payload = Payload.none
  var anything: Any = 0
  var other: (any Peer)?
  var text = ""
  weak var watched: Node?
  lazy var late = Node(value + 1)
  var value: Int

  init(_ value: Int) { self.value = value }
  override func visit() -> Int {
    call()
    return value
  }
  func visitNext() -> Int {
    call()
    return (next?.visit() ?? 0) + value
  }
  consuming func end() -> Int {
    call()
    next = nil
    call()
    return value
  }
  var peer: Node? {
    _read {
      call()
      yield next
      call()
    }
    _modify {
      call()
      yield &next
      call()
    }
  }
  deinit { next = nil }
}
extension Node: Hashable {
  static func == (left: Node, right: Node) -> Bool { left === right }
  func hash(into hasher: inout Hasher) {
    callFromHere()
    hasher.combine(value)
  }
}
/// Waits while it dies, and needs what it has until the end.
final class Mourner {
  var node: Node?
  init(_ node: Node) { self.node = node }
  deinit {
    call()
    node?.next = nil
    call()
    node = nil
    call()
  }
}
/// Refers to itself before it is complete.
final class Registrant {
  var itself: Registrant?
  let node: Node
  let second: Node
  var count = 0
  init(_ value: Int) {
    call()
    node = Node(value)
    call()
    second = node
    node.next = node
    call()
    itself = self
    call()
    count = value
  }
  init(failing value: Int) throws {
    node = Node(value)
    node.next = node
    call()
    second = Node(value)
    itself = self
    call()
    itself = nil
    node.next = nil
    throw Refusal.no
  }
  func leave() -> Int {
    node.next = nil
    call()
    itself = nil
    call()
    return count
  }
}
enum Refusal: Error {
  case no
  case with(Node)
}
final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}
struct Parts {
  var first: Node
  var second: Node?
  var rest: [Node]
}
struct Guarded: ~Copyable {
  let node: Node
  init(_ value: Int) {
    node = Node(value)
    node.next = node
    call()
  }
  consuming func end() -> Int {
    call()
    node.next = nil
    return node.value
  }
  deinit {
    call()
    node.next = nil
  }
}
@propertyWrapper struct Wrapped<Value> {
  private var stored: Value
  init(wrappedValue: Value) { stored = wrappedValue }
  var wrappedValue: Value {
    get {
      callFromHere()
      return stored
    }
    set {
      callFromHere()
      stored = newValue
      callFromHere()
    }
  }
}

@inline(never) func use(_ node: Node) -> Int {
  call()
  return node.value
}
@inline(never) func take(_ node: consuming Node) -> Int {
  call()
  return node.value
}
@inline(never) func makeCycle(_ value: Int) -> Node {
  let first = Node(value)
  let second = Node(value + 1)
  first.next = second
  call()
  second.next = first
  call()
  return first
}
@inline(never) func makeLoop(_ value: Int) -> Node {
  let node = Node(value)
  node.next = node
  return node
}
@inline(never) func breakCycle(_ node: Node) {
  call()
  node.next?.next = nil
  call()
  node.next = nil
}
