// Nodes in stored properties and in payloads of enums.

private final class Field: Holder, @unchecked Sendable {
  private var first: Node?
  private let keeper = Keeper()

  final class Keeper { var second: Node? }

  override func put(_ node: Node) -> Bool {
    if first == nil { first = node } else if keeper.second == nil { keeper.second = node } else { return false }
    return true
  }
  override func take() -> Node? { first.take() ?? keeper.second.take() }
}

private final class Nested: Holder, @unchecked Sendable {
  struct Inner { var pair: (label: Int, node: Node?)? }
  struct Outer {
    var flag: UInt8 = 0
    var inner = Inner()
    var list: [Inner] = []
  }
  private var outer = Outer()

  override func put(_ node: Node) -> Bool {
    if outer.inner.pair == nil { outer.inner.pair = (1, node) } else { outer.list.append(Inner(pair: (2, node))) }
    return true
  }
  override func take() -> Node? {
    if let node = outer.inner.pair?.node {
      outer.inner.pair = nil
      return node
    }
    return outer.list.popLast()?.pair?.node
  }
}

private final class NestedOptional: Holder, @unchecked Sendable {
  private var node: Node???? = .some(.some(.none))
  private var wrapped: Result<Node?, any Error>? = nil

  override func put(_ node: Node) -> Bool {
    if case .some(.some(.some(.some(_)))) = self.node {
      if case .success(.some) = wrapped { return false }
      wrapped = .success(node)
    } else {
      self.node = node
    }
    return true
  }
  override func take() -> Node? {
    if case .success(let node?) = wrapped {
      wrapped = .success(nil)
      return node
    }
    guard case .some(.some(.some(.some(let node)))) = self.node else { return nil }
    self.node = .some(.none)
    return node
  }
}

private final class Single: Holder, @unchecked Sendable {
  enum Payload {
    case empty, waiting, failed
    case node(Node)
    case closed
  }
  struct Packed {
    var byte: UInt8 = 1
    var payload = Payload.empty
    var other: Payload? = .waiting
  }
  private var packed = Packed()

  override func put(_ node: Node) -> Bool {
    if case .node = packed.payload {
      if case .node = packed.other { return false }
      packed.other = .node(node)
    } else {
      packed.payload = .node(node)
    }
    return true
  }
  override func take() -> Node? {
    if case .node(let node) = packed.payload {
      packed.payload = .closed
      return node
    }
    guard case .node(let node) = packed.other else { return nil }
    packed.other = nil
    return node
  }
  override func churn() { if case .closed = packed.payload { packed.payload = .failed } }
}

private final class Multi: Holder, @unchecked Sendable {
  enum Payload {
    case none
    case node(Node)
    case wide(Int, Node, UInt8)
    case number(UInt64)
    case two(Node?, Node?)
    case text(String)
    case references(weak: Weak, node: Node)
  }
  struct Weak { weak var node: Node? }
  private var payloads: [Payload] = []
  private var field = Payload.number(.max)
  private var turn = 0

  override func put(_ node: Node) -> Bool {
    turn += 1
    switch turn % 5 {
    case 0: payloads.append(.node(node))
    case 1: payloads.append(.wide(turn, node, 255))
    case 2: payloads.append(.two(nil, node))
    case 3: payloads.append(.references(weak: Weak(node: node), node: node))
    default:
      if case .node(let old) = field { payloads.append(.two(old, nil)) }
      field = .node(node)
    }
    return true
  }
  override func take() -> Node? {
    if case .node(let node) = field {
      field = .text("short")
      return node
    }
    switch payloads.popLast() {
    case .node(let node), .wide(_, let node, _), .references(_, let node): return node
    case .two(let one, let other): return one ?? other
    default: return nil
    }
  }
  override func churn() {
    if case .node = field {
    } else {
      field = .wide(7, Node(), 1)
      field = .none
    }
  }
}

private final class Indirect: Holder, @unchecked Sendable {
  indirect enum List {
    case end
    case node(Node, List)
    case number(Int, List)
  }
  private var list = List.end
  private var count = 0

  override func put(_ node: Node) -> Bool {
    count += 1
    list = .node(node, count % 3 == 0 ? .number(count, list) : list)
    return true
  }
  override func take() -> Node? {
    while true {
      switch list {
      case .end: return nil
      case .number(_, let rest): list = rest
      case .node(let node, let rest):
        list = rest
        return node
      }
    }
  }
}

@propertyWrapper private struct Logged<Value> {
  var wrappedValue: Value { didSet { changes += 1 } }
  var changes = 0
  init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

private final class Wrapped: Holder, @unchecked Sendable {
  @Logged private var node: Node?
  @Logged private var nodes: [Node] = []

  override func put(_ node: Node) -> Bool {
    if self.node == nil { self.node = node } else { nodes.append(node) }
    return true
  }
  override func take() -> Node? { nodes.popLast() ?? node.take() }
}

private final class Lazy: Holder, @unchecked Sendable {
  private var pending: Node?
  private lazy var node: Node? = pending.take()
  private lazy var unused: [Node] = [Node()]

  override func put(_ node: Node) -> Bool {
    if pending != nil { return false }
    pending = node
    if self.node == nil { self.node = pending.take() }
    return true
  }
  override func take() -> Node? { node.take() ?? pending.take() }
}

private class Base<Value>: Holder, @unchecked Sendable { var value: Value? }
private class Middle<Value, Other>: Base<(Int8, Other?)>, @unchecked Sendable { var own: Value? }
private final class Inherited: Middle<Node, Node>, @unchecked Sendable {
  override func put(_ node: Node) -> Bool {
    if own == nil { own = node } else if value?.1 == nil { value = (1, node) } else { return false }
    return true
  }
  override func take() -> Node? {
    if let node = own.take() { return node }
    let node = value?.1
    value = nil
    return node
  }
}

private final class NotStrong: Holder, @unchecked Sendable {
  private weak var weakly: Node?
  private unowned var unowned: Node?
  private unowned(unsafe) var unsafely: Node?
  private var nodes: [Node] = []

  override func put(_ node: Node) -> Bool {
    nodes.append(node)
    weakly = node
    unowned = node
    unsafely = node
    return true
  }
  override func take() -> Node? { nodes.popLast() }
  override func churn() { unowned = nodes.first }
}

/// Nodes that are owned by a count alone: their address is all that there is of them.
private final class OnlyUnmanaged: Holder, @unchecked Sendable {
  private var held: Unmanaged<Node>?
  private unowned(unsafe) var unsafe: Node?
  private var opaque: UnsafeMutableRawPointer?
  private var number: UInt = 0

  override func put(_ node: Node) -> Bool {
    let retained = Unmanaged.passRetained(node)
    if held == nil {
      held = retained
    } else if unsafe == nil {
      unsafe = node
    } else if opaque == nil {
      opaque = retained.toOpaque()
    } else if number == 0 {
      number = UInt(bitPattern: retained.toOpaque())
    } else {
      retained.release()
      return false
    }
    return true
  }
  override func take() -> Node? {
    if number != 0 {
      let node = Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: number)!).takeRetainedValue()
      number = 0
      return node
    }
    if let pointer = opaque.take() { return Unmanaged<Node>.fromOpaque(pointer).takeRetainedValue() }
    if let node = unsafe {
      unsafe = nil
      return Unmanaged.passUnretained(node).takeRetainedValue()
    }
    return held.take()?.takeRetainedValue()
  }
  deinit { while take() != nil {} }
}

let fieldKinds: [Kind] = [
  Kind(name: "field.plain") { Field() },
  Kind(name: "field.nested") { Nested() },
  Kind(name: "field.nestedOptional") { NestedOptional() },
  Kind(name: "field.singlePayload") { Single() },
  Kind(name: "field.multiPayload") { Multi() },
  Kind(name: "field.indirect") { Indirect() },
  Kind(name: "field.wrapped") { Wrapped() },
  Kind(name: "field.lazy") { Lazy() },
  Kind(name: "field.inherited") { Inherited() },
  Kind(name: "field.weakAndUnowned") { NotStrong() },
  Kind(name: "field.unmanaged") { OnlyUnmanaged() },
]
