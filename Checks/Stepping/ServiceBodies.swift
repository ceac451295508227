// Bodies whose cycles lead through what the standard library and Foundation offer beside collections.
import CStepping
import Foundation
import Synchronization

final class Tail: ManagedBuffer<Int, Node> {
  deinit {
    call()
    _ = withUnsafeMutablePointers { $1.deinitialize(count: $0.pointee) }
  }
}
final class Protected: Sendable {
  let nodes = Mutex<[Node]>([])
  let first = Mutex<Node?>(nil)
}
struct Unique<Value: ~Copyable>: ~Copyable {
  var value: Value
  consuming func open() -> Value {
    call()
    return value
  }
}
enum Ambient {
  @TaskLocal static var node: Node?
}

@Sendable func mutexes(_ value: Int) -> Int {
  let protected = Protected()
  let node = Node(value)
  node.anything = protected
  protected.nodes.withLock {
    $0.append(node)
    call()
  }
  protected.first.withLock { $0 = node }
  call()
  let count = protected.nodes.withLock { nodes in
    defer { nodes.removeAll() }
    call()
    return nodes.count
  }
  let taken = protected.first.withLock { $0.take() }
  call()
  return count + (taken?.value ?? 0)
}
@Sendable func buffers(_ value: Int) -> Int {
  let buffer = Tail.create(minimumCapacity: 2) { _ in 0 }
  let node = Node(value)
  node.anything = buffer
  buffer.withUnsafeMutablePointers { count, elements in
    elements.initialize(to: node)
    call()
    count.pointee = 1
  }
  call()
  let same = buffer.withUnsafeMutablePointerToElements { $0.pointee }
  call()
  same.anything = 0
  return same.value
}
@Sendable func packs(_ value: Int) -> Int {
  @inline(never) func visit<each Part>(_ parts: repeat each Part, with action: (Any) -> Void) {
    repeat action(each parts)
    call()
  }
  let (one, other) = (makeLoop(value), makeLoop(value))
  visit(one, value, other, "text") { part in
    call()
    (part as? Node)?.next = nil
  }
  return one.value + other.value
}
@Sendable func uniqueValues(_ value: Int) -> Int {
  let unique = Unique(value: Guarded(value))
  call()
  let other = Unique(value: Optional(makeLoop(value)))
  let sum = unique.open().end()
  let node = other.open()
  call()
  node?.next = nil
  return sum
}
@Sendable func hashables(_ value: Int) -> Int {
  let node = makeLoop(value)
  var table: [AnyHashable: Any] = [node: node, 1: node]
  call()
  node.anything = table[node]!
  table[1] = nil
  call()
  let same = table.removeValue(forKey: node) as! Node
  node.anything = 0
  call()
  same.next = nil
  return table.count
}
@Sendable func merges(_ value: Int) -> Int {
  var table = [1: makeLoop(1), 2: makeLoop(2)]
  table.merge([2: makeLoop(3), 4: makeLoop(4)]) { old, new in
    call()
    old.next = nil
    return new
  }
  call()
  let odd = table.filter { use($0.value) % 2 == 1 }
  let sum = odd.values.reduce(into: 0) { $0 += use($1) }
  let pairs = Dictionary(uniqueKeysWithValues: table.map { ($1.value, $1) })
  table = [:]
  call()
  for node in pairs.values { node.next = nil }
  return sum
}
@Sendable func partitions(_ value: Int) -> Int {
  var nodes = ContiguousArray((0..<6).map(makeLoop))
  let middle = nodes.partition { use($0) % 2 == 0 }
  call()
  let slice = nodes[middle...]
  let kept = slice.first!
  nodes.removeAll { node in
    let isEven = use(node) % 2 == 0
    if isEven, node !== kept { node.next = nil }
    return isEven
  }
  call()
  for node in nodes { node.next = nil }
  kept.next = nil
  return slice.count
}
@Sendable func containersOfFoundation(_ value: Int) -> Int {
  let node = makeLoop(value)
  let list = NSMutableArray(array: [node])
  node.anything = list
  call()
  let table = NSMutableDictionary()
  table["node"] = node
  call()
  let same = list.firstObject as! Node
  list.removeAllObjects()
  call()
  table.removeAllObjects()
  same.anything = 0
  same.next = nil
  return list.count
}
@Sendable func notifications(_ value: Int) -> Int {
  let center = NotificationCenter()
  let node = makeLoop(value)
  let name = Notification.Name("stepping")
  let token = center.addObserver(forName: name, object: nil, queue: nil) { _ in
    call()
    node.value += 1
  }
  call()
  center.post(name: name, object: nil)
  center.removeObserver(token)
  call()
  node.next = nil
  return node.value
}
@Sendable func results(_ value: Int) -> Int {
  @inline(never) func attempt(_ value: Int) -> Result<Node, Refusal> {
    call()
    return value > 2 ? .success(makeLoop(value)) : .failure(.with(makeLoop(value)))
  }
  let made = attempt(value).map { node in
    call()
    return (node, node.next)
  }
  call()
  switch made {
  case .success(let pair): pair.1?.next = nil
  case .failure(.with(let node)): node.next = nil
  case .failure(.no): break
  }
  return value
}
@Sendable func callsThroughUnsafe(_ value: Int) -> Int {
  let keeper = makeLoop(value)
  unowned(unsafe) let node = keeper
  unowned let counted = keeper
  call()
  let sum = node.value + counted.value
  call()
  keeper.next = nil
  return sum
}
@Sendable func ambientValues(_ value: Int) -> Int {
  let node = makeLoop(value)
  return Ambient.$node.withValue(node) {
    call()
    let same = Ambient.node
    call()
    same?.next = nil
    return same?.value ?? 0
  }
}
@Sendable func operations(_ value: Int) -> Int {
  let node = makeLoop(value)
  let operation = BlockOperation {
    call()
    node.next = nil
    call()
  }
  operation.completionBlock = { call() }
  node.anything = operation
  operation.start()
  call()
  operation.completionBlock = nil
  node.anything = 0
  return node.value
}

let serviceBodies: [(name: String, run: @Sendable (Int) -> Int)] = [
  ("mutexes", mutexes), ("buffers", buffers), ("packs", packs), ("uniqueValues", uniqueValues),
  ("hashables", hashables), ("merges", merges), ("partitions", partitions),
  ("containersOfFoundation", containersOfFoundation), ("notifications", notifications), ("results", results),
  ("callsThroughUnsafe", callsThroughUnsafe), ("ambientValues", ambientValues), ("operations", operations),
]
