// Bodies whose cycles lead through closures, payloads, existentials, objects that begin or end.
import CStepping
import Foundation

@Sendable func closureOfItself(_ value: Int) -> Int {
  let node = Node(value)
  node.action = {
    call()
    return node.value
  }
  call()
  let result = node.action!()
  call()
  node.action = nil
  return result
}
@Sendable func closureOfVariable(_ value: Int) -> Int {
  var node = makeLoop(value)
  var count = 0
  let action = {
    count += 1
    call()
    node.next = nil
    node = makeLoop(count)
    call()
  }
  action()
  call()
  action()
  node.next = nil
  return count
}
@Sendable func closuresOfClosures(_ value: Int) -> Int {
  @inline(never) func compose(_ outer: @escaping (Int) -> Int, _ inner: @escaping (Int) -> Int) -> (Int) -> Int {
    call()
    return { outer(inner($0)) }
  }
  let node = makeLoop(value)
  let sum = compose({ use(node) + $0 }, { $0 + node.visit() })
  call()
  defer { node.next = nil }
  return sum(1)
}
@Sendable func recursiveClosure(_ value: Int) -> Int {
  var visit: ((Node?, Int) -> Int)?
  visit = { node, depth in
    call()
    guard let node, depth > 0 else { return 0 }
    return node.value + visit!(node.next, depth - 1)
  }
  let node = makeCycle(value)
  let sum = visit!(node, 3)
  visit = nil
  breakCycle(node)
  return sum
}
@Sendable func payloads(_ value: Int) -> Int {
  let (one, other) = (Node(value), Node(value))
  one.payload = .two(one, other)
  call()
  other.payload = .nested(.one(one), other)
  call()
  var sum = 0
  switch one.payload {
  case .two(let first, let second): sum = use(first) + use(second)
  default: break
  }
  if case .nested(let inner, let node) = other.payload, case .one(let deep) = inner {
    call()
    sum += deep.value + node.value
  }
  one.payload = .number(UInt64(value))
  call()
  other.payload = .none
  return sum
}
@Sendable func anything(_ value: Int) -> Int {
  let node = Node(value)
  node.anything = Parts(first: node, second: node, rest: [node])
  call()
  if let parts = node.anything as? Parts {
    call()
    _ = use(parts.first)
  }
  node.anything = node
  call()
  node.anything = (node, value)
  call()
  node.anything = value
  return node.value
}
@Sendable func existentials(_ value: Int) -> Int {
  @inline(never) func tie(_ one: any Peer, _ other: some Peer) {
    one.other = other
    call()
    other.other = one
    call()
  }
  let (one, other) = (Node(value), Node(value))
  tie(one, other)
  let peer: any Peer = one
  call()
  (peer.other as? Node)?.other = nil
  call()
  one.other = nil
  return other.value
}
@Sendable func structs(_ value: Int) -> Int {
  var parts = Parts(first: Node(value), second: nil, rest: [])
  parts.second = parts.first
  parts.rest = [parts.first]
  parts.first.list = parts.rest
  call()
  var copy = parts
  copy.rest.append(makeLoop(value))
  call()
  copy.rest[1].next = nil
  parts.first.list = []
  return copy.rest.count
}
@Sendable func generics(_ value: Int) -> Int {
  let box = Box<(Node, Int, Node?)>((makeCycle(value), 1, nil))
  box.value.2 = box.value.0
  call()
  @inline(never) func update<T>(_ box: Box<T>, _ change: (inout T) -> Void) {
    call()
    change(&box.value)
    call()
  }
  update(box) {
    call()
    $0.1 += 1
    $0.2 = nil
  }
  breakCycle(box.value.0)
  return box.value.1
}
@Sendable func boxOfItself(_ value: Int) -> Int {
  let box = Box<Any?>(nil)
  box.value = box
  call()
  let outer = Box(box)
  box.value = outer
  call()
  box.value = nil
  return value
}
@Sendable func accessors(_ value: Int) -> Int {
  let node = makeLoop(value)
  let sum = (node.peer?.value ?? 0)
  node.peer?.value += 1
  call()
  @inline(never) func clear(_ place: inout Node?) {
    call()
    let old = place
    place = nil
    call()
    _ = use(old!)
  }
  clear(&node.peer)
  return sum
}
@Sendable func hierarchies(_ value: Int) -> Int {
  let base: Base = makeLoop(value)
  call()
  let sum = base.visit()
  let node = base as! Node
  call()
  node.next = nil
  return sum + unsafeDowncast(base, to: Node.self).value
}
@Sendable func deinits(_ value: Int) -> Int {
  var mourner: Mourner? = Mourner(makeLoop(value))
  let node = makeLoop(value)
  call()
  _ = use(mourner!.node!)
  mourner = nil
  call()
  mourner = Mourner(node)
  node.anything = makeCycle(value)
  mourner = nil
  breakCycle(node.anything as! Node)
  return node.value
}
@Sendable func initialisers(_ value: Int) -> Int {
  let registrant = Registrant(value)
  call()
  let result = registrant.leave()
  return result + ((try? Registrant(failing: value))?.count ?? 1)
}
@Sendable func lazies(_ value: Int) -> Int {
  let node = Node(value)
  node.late.next = node
  call()
  let late = node.late
  call()
  late.next = nil
  return late.value
}
@Sendable func wrappers(_ value: Int) -> Int {
  struct Pair {
    @Wrapped var node: Node
    @Wrapped var nodes: [Node] = []
  }
  var pair = Pair(node: makeLoop(value))
  pair.nodes.append(pair.node)
  call()
  let old = pair.node
  pair.node = makeLoop(value)
  old.next = nil
  call()
  pair.node.next = nil
  return pair.nodes.count
}
@Sendable func keyPaths(_ value: Int) -> Int {
  let node = makeLoop(value)
  let path: ReferenceWritableKeyPath<Node, Node?> = \.next
  call()
  let deeper = path.appending(path: \Node?.?.value)
  let result = node[keyPath: deeper] ?? 0
  call()
  node[keyPath: path] = nil
  return result
}
@Sendable func noncopyable(_ value: Int) -> Int {
  let guarded = Guarded(value)
  call()
  let other = Guarded(value)
  call()
  return guarded.end() + other.node.value
}
@Sendable func queues(_ value: Int) -> Int {
  let queue = DispatchQueue(label: "stepping")
  let node = makeLoop(value)
  let sum = queue.sync { use(node) }
  let done = DispatchSemaphore(value: 0)
  queue.async { [node] in
    call()
    node.next = nil
    call()
    done.signal()
  }
  done.wait()
  return sum
}
@Sendable func locks(_ value: Int) -> Int {
  let lock = NSLock()
  let node = makeLoop(value)
  let result = lock.withLock {
    call()
    node.next = nil
    return node.value
  }
  return result + (NSString(string: "\(value)").length)
}
@Sendable func objectsOnStack(_ value: Int) -> Int {
  let box = Box(makeLoop(value))
  let pair = Box((box.value, Node(value)))
  call()
  let result = pair.value.0.value + pair.value.1.value
  box.value = Node(1)
  call()
  pair.value.0.next = nil
  return result
}

let valueBodies: [(name: String, run: @Sendable (Int) -> Int)] = [
  ("closureOfItself", closureOfItself), ("closureOfVariable", closureOfVariable),
  ("closuresOfClosures", closuresOfClosures), ("recursiveClosure", recursiveClosure), ("payloads", payloads),
  ("anything", anything), ("existentials", existentials), ("structs", structs), ("generics", generics),
  ("boxOfItself", boxOfItself), ("accessors", accessors), ("hierarchies", hierarchies), ("deinits", deinits),
  ("initialisers", initialisers), ("lazies", lazies), ("wrappers", wrappers), ("keyPaths", keyPaths),
  ("noncopyable", noncopyable), ("queues", queues), ("locks", locks), ("objectsOnStack", objectsOnStack),
]
