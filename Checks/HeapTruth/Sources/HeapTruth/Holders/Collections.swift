// Nodes in the storage of collections.

private final class Arrays: Holder, @unchecked Sendable {
  private var nodes: [Node] = []
  override func put(_ node: Node) -> Bool {
    nodes.append(node)
    return true
  }
  override func take() -> Node? { nodes.popLast() }
  override func churn() {
    nodes.reserveCapacity(nodes.count * 3)
    nodes.shuffle()
  }
}

private final class Slices: Holder, @unchecked Sendable {
  private var nodes: ArraySlice<Node?> = []
  private var contiguous: ContiguousArray<(Node, Int8)> = []
  override func put(_ node: Node) -> Bool {
    if nodes.count <= contiguous.count { nodes.append(node) } else { contiguous.insert((node, 1), at: 0) }
    return true
  }
  override func take() -> Node? {
    if let first = nodes.indices.first, let node = nodes[first] {
      // The storage keeps what goes off the front of a slice.
      nodes[first] = nil
      nodes.removeFirst()
      return node
    }
    return contiguous.popLast()?.0
  }
}

private final class Values: Holder, @unchecked Sendable {
  private var nodes: [Int: Node] = [:]
  private var next = 0
  override func put(_ node: Node) -> Bool {
    next += 7
    nodes[next] = node
    return true
  }
  override func take() -> Node? {
    guard let key = nodes.keys.first else { return nil }
    return nodes.removeValue(forKey: key)
  }
  override func churn() { nodes.reserveCapacity(nodes.count * 2) }
}

private final class Keys: Holder, @unchecked Sendable {
  private var nodes: [Node: String] = [:]
  override func put(_ node: Node) -> Bool {
    nodes[node] = "a value with a text of its own"
    return true
  }
  override func take() -> Node? {
    guard let index = nodes.indices.first else { return nil }
    return nodes.remove(at: index).key
  }
}

private final class Members: Holder, @unchecked Sendable {
  enum Member: Hashable {
    case node(Node)
    case number(Int)
  }
  private var nodes: Set<Node> = []
  private var members: Set<Member> = [.number(3)]
  override func put(_ node: Node) -> Bool {
    if nodes.count < members.count { nodes.insert(node) } else { members.insert(.node(node)) }
    return true
  }
  override func take() -> Node? {
    if let node = nodes.popFirst() { return node }
    for case .node(let node) in members {
      members.remove(.node(node))
      return node
    }
    return nil
  }
  override func churn() { members.insert(.number(members.count)) }
}

/// A ring with head and count, as queues have it.
private final class Ring: Holder, @unchecked Sendable {
  struct Header { var head = 0, count = 0, capacity = 8 }
  private let buffer = ManagedBuffer<Header, Node>.create(minimumCapacity: 8) { _ in Header() }

  override func put(_ node: Node) -> Bool {
    buffer.withUnsafeMutablePointers { header, elements in
      if header.pointee.count == header.pointee.capacity { return false }
      let slot = (header.pointee.head + header.pointee.count) % header.pointee.capacity
      (elements + slot).initialize(to: node)
      header.pointee.count += 1
      return true
    }
  }
  override func take() -> Node? {
    buffer.withUnsafeMutablePointers { header, elements in
      if header.pointee.count == 0 { return nil }
      let node = (elements + header.pointee.head).move()
      header.pointee.head = (header.pointee.head + 1) % header.pointee.capacity
      header.pointee.count -= 1
      return node
    }
  }
  deinit { while take() != nil {} }
}

/// A class of the program that has a header and elements behind its fields.
private final class OwnBuffer {
  struct Header {
    var count: Int
    var first: Node?
  }
  deinit {
    ManagedBufferPointer<Header, Node>(unsafeBufferObject: self).withUnsafeMutablePointers { header, elements in
      _ = elements.deinitialize(count: header.pointee.count)
      _ = header.deinitialize(count: 1)
    }
  }
}

private final class Tail: Holder, @unchecked Sendable {
  private var buffer = ManagedBufferPointer<OwnBuffer.Header, Node>(
    bufferClass: OwnBuffer.self, minimumCapacity: 6
  ) { _, _ in OwnBuffer.Header(count: 0, first: nil) }

  override func put(_ node: Node) -> Bool {
    buffer.withUnsafeMutablePointers { header, elements in
      if header.pointee.first == nil {
        header.pointee.first = node
      } else if header.pointee.count < 6 {
        (elements + header.pointee.count).initialize(to: node)
        header.pointee.count += 1
      } else {
        return false
      }
      return true
    }
  }
  override func take() -> Node? {
    buffer.withUnsafeMutablePointers { header, elements in
      if header.pointee.count > 0 {
        header.pointee.count -= 1
        return (elements + header.pointee.count).move()
      }
      return header.pointee.first.take()
    }
  }
}

/// Elements of a class with tail elements that only the header reports: a struct with a reference at an odd place.
private final class Mixed: Holder, @unchecked Sendable {
  struct Element {
    var flag: Bool
    var closure: (() -> Node)?
    var node: Node?
    var byte: UInt8
  }
  private var elements: [Element] = []
  private var nested: [[Element]] = [[]]

  override func put(_ node: Node) -> Bool {
    if elements.count % 2 == 0 {
      elements.append(Element(flag: true, closure: { node }, node: nil, byte: 1))
    } else {
      elements.append(Element(flag: false, closure: nil, node: node, byte: 2))
    }
    return true
  }
  override func take() -> Node? {
    if elements.isEmpty { swap(&elements, &nested[0]) }
    guard let last = elements.popLast() else { return nil }
    return last.node ?? last.closure?()
  }
  override func churn() { if nested[0].isEmpty { swap(&elements, &nested[0]) } }
}

/// Objects that are owned by a count, with their addresses in numbers.
private final class Words: Holder, @unchecked Sendable {
  private var words: [UInt] = []
  private var set: Set<UInt64> = []

  override func put(_ node: Node) -> Bool {
    let word = UInt(bitPattern: Unmanaged.passRetained(node).toOpaque())
    if set.count < words.count { set.insert(UInt64(word)) } else { words.append(word) }
    return true
  }
  override func take() -> Node? {
    guard let word = words.popLast() ?? set.popFirst().map({ UInt($0) }) else { return nil }
    return Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: word)!).takeRetainedValue()
  }
  deinit { while take() != nil {} }
}

/// Likewise in bytes, at odd places.
private final class Bytes: Holder, @unchecked Sendable {
  private var bytes: [UInt8] = [1, 2, 3]

  override func put(_ node: Node) -> Bool {
    let word = UInt(bitPattern: Unmanaged.passRetained(node).toOpaque())
    for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) }
    return true
  }
  override func take() -> Node? {
    if bytes.count == 3 { return nil }
    var word: UInt = 0
    for _ in 0..<8 { word = word << 8 | UInt(bytes.removeLast()) }
    return Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: word)!).takeRetainedValue()
  }
  deinit { while take() != nil {} }
}

/// Identifiers of nodes that somebody else owns: numbers, which keep nothing alive.
private final class Identifiers: Holder, @unchecked Sendable {
  private var nodes: [Node] = []
  private var seen: Set<ObjectIdentifier> = []
  private var list: [ObjectIdentifier] = []
  private var tag: UInt64 = 0

  override func put(_ node: Node) -> Bool {
    nodes.append(node)
    seen.insert(ObjectIdentifier(node))
    if list.count < 20 { list.append(ObjectIdentifier(node)) }
    tag = UInt64(UInt(bitPattern: ObjectIdentifier(node)))
    return true
  }
  override func take() -> Node? { nodes.popLast() }
}

let collectionKinds: [Kind] = [
  Kind(name: "collection.array") { Arrays() },
  Kind(name: "collection.slice") { Slices() },
  Kind(name: "collection.values") { Values() },
  Kind(name: "collection.keys") { Keys() },
  Kind(name: "collection.set") { Members() },
  Kind(name: "collection.ring") { Ring() },
  Kind(name: "collection.tail") { Tail() },
  Kind(name: "collection.mixed") { Mixed() },
  Kind(name: "collection.words") { Words() },
  Kind(name: "collection.bytes") { Bytes() },
  Kind(name: "collection.identifiers") { Identifiers() },
]
