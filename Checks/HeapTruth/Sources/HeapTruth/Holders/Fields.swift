import Foundation

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

/// Payloads of many representations, with the spare bits of each.
private final class MixedPayload: Holder, @unchecked Sendable {
  enum Payload {
    case text(String)
    case array([Node])
    case values([Int: Node])
    case closure(() -> Node)
    case anything(Any)
    case failure(any Error & AnyObject)
    case either(Either<Node, String>)
    case date(Date?, Node?)
    case nothing
  }
  enum Either<Left, Right> {
    case left(Left)
    case right(Right)
  }
  private var payloads: [Payload?] = [.nothing]
  private var last: Payload?
  private var turn = 0

  override func put(_ node: Node) -> Bool {
    turn += 1
    payloads.append(last)
    switch turn % 7 {
    case 0: last = .array([node])
    case 1: last = .values([turn: node])
    case 2: last = .closure { node }
    case 3: last = .anything(node)
    case 4: last = .either(.left(node))
    case 5: last = .date(nil, node)
    default: last = .anything((turn, "text", node))
    }
    return true
  }
  override func take() -> Node? {
    while !payloads.isEmpty {
      let payload = last
      last = payloads.popLast() ?? nil
      switch payload {
      case .array(let nodes): return nodes[0]
      case .values(let nodes): return nodes.first!.value
      case .closure(let closure): return closure()
      case .anything(let value): return value as? Node ?? (value as! (Int, String, Node)).2
      case .either(.left(let node)): return node
      case .date(_, let node?): return node
      default: continue
      }
    }
    return nil
  }
  override func churn() { payloads.insert(.text("a text that is too long for the string itself"), at: 0) }
}

private final class Unusual: Holder, @unchecked Sendable {
  struct Unique: ~Copyable {
    var node: Node?
    deinit {}
  }
  struct Pack<each Element> { var values: (repeat each Element) }
  struct Resilient {
    var date: Date?
    var link: URL?
    var identifier = UUID()
    var data: Data?
    var node: Node?
  }
  private var unique = Unique(node: nil)
  private var inline: InlineArray<3, Node?> = [nil, nil, nil]
  private var pack = Pack<Int8, Node?, String>(values: (1, nil, ""))
  private var resilient = Resilient()

  override func put(_ node: Node) -> Bool {
    if unique.node == nil {
      unique.node = node
    } else if inline[1] == nil {
      inline[1] = node
    } else if second(of: pack.values) == nil {
      pack = Pack(values: (1, node, ""))
    } else if resilient.node == nil {
      resilient.node = node
    } else {
      return false
    }
    return true
  }
  override func take() -> Node? {
    if let node = second(of: pack.values) {
      pack = Pack(values: (1, nil, ""))
      return node
    }
    return resilient.node.take() ?? inline[1].take() ?? unique.node.take()
  }
  private func second(of values: (Int8, Node?, String)) -> Node? { values.1 }
  override func churn() { resilient.link = resilient.link == nil ? URL(string: "https://swift.org") : nil }
}

private final class OfFoundation: Holder, @unchecked Sendable {
  final class Work: Operation, @unchecked Sendable { var node: Node? }
  final class Object: NSObject {
    var number: Int8 = 1
    var node: Node?
  }
  private let work = Work()
  private let object = Object()
  override func put(_ node: Node) -> Bool {
    if work.node == nil { work.node = node } else if object.node == nil { object.node = node } else { return false }
    return true
  }
  override func take() -> Node? { work.node.take() ?? object.node.take() }
}

let fieldKinds: [Kind] = [
  Kind(name: "field.plain") { Field() },
  Kind(name: "field.nested") { Nested() },
  Kind(name: "field.nestedOptional") { NestedOptional() },
  Kind(name: "field.singlePayload") { Single() },
  Kind(name: "field.multiPayload") { Multi() },
  Kind(name: "field.mixedPayload") { MixedPayload() },
  Kind(name: "field.unusual") { Unusual() },
  Kind(name: "field.ofFoundation") { OfFoundation() },
  Kind(name: "field.indirect") { Indirect() },
  Kind(name: "field.wrapped") { Wrapped() },
  Kind(name: "field.lazy") { Lazy() },
  Kind(name: "field.inherited") { Inherited() },
  Kind(name: "field.weakAndUnowned") { NotStrong() },
  Kind(name: "field.unmanaged") { OnlyUnmanaged() },
]
