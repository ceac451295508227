// Each body makes cycles that only its own frames own, stops as often as it can, and breaks them.
import CStepping
import Foundation

@Sendable func ownsLoop(_ value: Int) -> Int {
  let node = Node(value)
  node.next = node
  call()
  node.next = nil
  return node.value
}
@Sendable func storesThenAllocates(_ value: Int) -> Int {
  let node = Node(value)
  node.next = node
  let other = Node(value + 1)
  other.next = node
  call()
  node.next = nil
  call()
  return node.value + other.value
}
@Sendable func storesInParameter(_ value: Int) -> Int {
  @inline(never) func tie(_ one: Node, _ other: Node) {
    one.next = other
    other.next = one
    call()
    one.list = [one, other]
    call()
  }
  let (one, other) = (Node(value), Node(value))
  tie(one, other)
  call()
  one.list = []
  one.next = nil
  return other.value
}
@Sendable func consumes(_ value: Int) -> Int {
  let node = makeLoop(value)
  call()
  return node.end()
}
@Sendable func consumesParameter(_ value: Int) -> Int {
  @inline(never) func finish(_ node: consuming Node, _ more: __owned Node) -> Int {
    call()
    let sum = more.value
    more.next = nil
    call()
    node.next = nil
    return sum
  }
  let node = makeLoop(value)
  return finish(node, makeLoop(value + 1))
}
@Sendable func borrows(_ value: Int) -> Int {
  @inline(never) func look(_ node: borrowing Node) -> Int {
    call()
    return node.value
  }
  let node = makeLoop(value)
  let sum = look(node) + look(node)
  node.next = nil
  return sum
}
@Sendable func exchanges(_ value: Int) -> Int {
  @inline(never) func replace(_ node: inout Node) {
    call()
    let old = node
    node = makeLoop(old.value)
    call()
    old.next = nil
  }
  var node = makeLoop(value)
  replace(&node)
  call()
  node.next = nil
  return node.value
}
@Sendable func swaps(_ value: Int) -> Int {
  var (one, other) = (makeLoop(value), makeLoop(value + 1))
  swap(&one, &other)
  call()
  one.next = other
  other.next = one
  call()
  swap(&one.next, &other.next)
  call()
  one.next = nil
  other.next = nil
  return one.value
}
@Sendable func walksList(_ value: Int) -> Int {
  let head = Node(0)
  var last = head
  for number in 1..<4 {
    let node = Node(number)
    last.next = node
    last = node
    call()
  }
  last.next = head
  call()
  var sum = 0
  var current: Node? = head
  while let node = current, node !== last {
    sum += node.value
    current = node.next
    call()
  }
  last.next = nil
  call()
  return sum
}
/// The frame's own reference to the first node is given away before the last use.
@Sendable func handsAlong(_ value: Int) -> Int {
  var node = makeCycle(value)
  for _ in 0..<3 {
    guard let next = node.next else { break }
    node = next
    call()
  }
  breakCycle(node)
  return node.value
}
@Sendable func takesOut(_ value: Int) -> Int {
  let node = makeLoop(value)
  let itself = node.next.take()
  call()
  node.next = itself
  call()
  let result = node.next.take()!.value
  call()
  return result
}
@Sendable func weakReference(_ value: Int) -> Int {
  let node = makeCycle(value)
  node.watched = node.next
  weak let reference = node
  call()
  let strong = reference
  call()
  breakCycle(node)
  call()
  return (strong?.value ?? 0) + (node.watched?.value ?? 0)
}
@Sendable func unmanaged(_ value: Int) -> Int {
  let kept = Unmanaged.passRetained(makeCycle(value))
  call()
  let node = kept.takeUnretainedValue()
  call()
  breakCycle(node)
  kept.release()
  return 1
}
@Sendable func contextOfC(_ value: Int) -> Int {
  let node = makeLoop(value)
  let action: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    call()
    let node = Unmanaged<Node>.fromOpaque(context!).takeRetainedValue()
    call()
    node.next = nil
  }
  return Int(callee_wait_then(Unmanaged.passRetained(node).toOpaque(), action, Int32(value)))
}
/// The cycle keeps itself alive, and while C code waits nobody else knows it.
@Sendable func contextOfCAlone(_ value: Int) -> Int {
  @inline(never) func make() -> UnsafeMutableRawPointer { Unmanaged.passUnretained(makeLoop(value)).toOpaque() }
  let action: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    Unmanaged<Node>.fromOpaque(context!).takeUnretainedValue().next = nil
    call()
  }
  return Int(callee_wait_then(make(), action, Int32(value)))
}
@Sendable func contextOfCallerInC(_ value: Int) -> Int {
  @inline(never) func make() -> UnsafeMutableRawPointer { Unmanaged.passUnretained(makeLoop(value)).toOpaque() }
  @inline(never) func isLast(_ context: UnsafeMutableRawPointer?) -> Bool {
    let node = Unmanaged<Node>.fromOpaque(context!).takeUnretainedValue()
    node.value -= 1
    if node.value == 0 { node.next = nil }
    return node.next == nil
  }
  let action: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
    if isLast(context) { return 0 }
    call()
    return callFromHereTwice()
  }
  callee_repeat(make(), action, Int32(value))
  return value
}
@Sendable func extended(_ value: Int) -> Int {
  let node = makeLoop(value)
  let pointer = Unmanaged.passUnretained(node)
  return withExtendedLifetime(node) {
    call()
    let result = pointer.takeUnretainedValue().value
    call()
    pointer.takeUnretainedValue().next = nil
    return result
  }
}
@Sendable func pointersInto(_ value: Int) -> Int {
  let node = makeLoop(value)
  withUnsafeMutablePointer(to: &node.value) { place in
    call()
    place.pointee += 1
    call()
  }
  withUnsafeMutablePointer(to: &node.next) { place in
    call()
    place.pointee = nil
    call()
  }
  return node.value
}
@Sendable func rawMemory(_ value: Int) -> Int {
  let room = UnsafeMutablePointer<Node>.allocate(capacity: 2)
  room.initialize(to: makeLoop(value))
  (room + 1).initialize(to: room.pointee)
  call()
  let node = (room + 1).move()
  call()
  node.next = nil
  room.deinitialize(count: 1)
  call()
  room.deallocate()
  return node.value
}
@Sendable func defers(_ value: Int) -> Int {
  let node = makeCycle(value)
  defer { breakCycle(node) }
  do {
    defer { call() }
    return node.visitNext()
  }
}
@Sendable func throwing(_ value: Int) -> Int {
  @inline(never) func fail(_ node: Node) throws -> Int {
    call()
    if node.value >= 0 { throw Refusal.with(node) }
    return 1
  }
  let node = makeLoop(value)
  do {
    return try fail(node)
  } catch Refusal.with(let node) {
    call()
    node.next = nil
    return node.value
  } catch {
    return 2
  }
}
@Sendable func throwsPastOwners(_ value: Int) -> Int {
  @inline(never) func inner(_ node: consuming Node) throws(Refusal) -> Int {
    call()
    throw .with(node)
  }
  @inline(never) func outer() throws(Refusal) -> Int {
    let mourner = Mourner(makeLoop(value))
    call()
    return try inner(makeLoop(value)) + (mourner.node?.value ?? 0)
  }
  do {
    return try outer()
  } catch .with(let node) {
    node.next = nil
    return 1
  } catch {
    return 2
  }
}
@Sendable func optionals(_ value: Int) -> Int {
  var one: Node? = makeLoop(value)
  call()
  let other = one.map {
    call()
    return $0.next ?? $0
  }
  one = nil
  call()
  other?.next = nil
  return other?.value ?? 0
}
@Sendable func tuples(_ value: Int) -> Int {
  @inline(never) func both() -> (Node, Node?) {
    let node = makeLoop(value)
    call()
    return (node, node.next)
  }
  var (one, other) = both()
  call()
  one = Node(value)
  call()
  other?.next = nil
  return one.value
}
@Sendable func joinsCycles(_ value: Int) -> Int {
  let one = makeCycle(value)
  let other = makeCycle(value + 2)
  one.next?.list.append(other)
  other.list.append(one)
  call()
  one.next?.list = []
  other.list = []
  breakCycle(one)
  breakCycle(other)
  return 1
}
@Sendable func manyVariables(_ value: Int) -> Int {
  let (a, b, c, d) = (makeLoop(1), makeLoop(2), makeLoop(3), makeLoop(4))
  let (e, f, g, h) = (Node(5), Node(6), Node(7), Node(8))
  e.next = f
  f.next = g
  g.next = h
  h.next = e
  call()
  a.next = nil
  let sum = use(b) + use(c) + use(d) + use(f)
  call()
  h.next = nil
  b.next = nil
  c.next = nil
  d.next = nil
  return sum + a.value
}
@Sendable func branches(_ value: Int) -> Int {
  var node = makeLoop(value)
  for round in 0..<4 {
    call()
    if round % 2 == 0 {
      let old = node
      node = makeLoop(round)
      call()
      old.next = nil
    } else if round == 3 {
      node.next = nil
      call()
      return node.value
    }
  }
  return 0
}

let ownershipBodies: [(name: String, run: @Sendable (Int) -> Int)] = [
  ("ownsLoop", ownsLoop), ("storesThenAllocates", storesThenAllocates), ("storesInParameter", storesInParameter),
  ("consumes", consumes), ("consumesParameter", consumesParameter), ("borrows", borrows), ("exchanges", exchanges),
  ("swaps", swaps), ("walksList", walksList), ("handsAlong", handsAlong), ("takesOut", takesOut),
  ("weakReference", weakReference), ("unmanaged", unmanaged), ("contextOfC", contextOfC),
  ("contextOfCAlone", contextOfCAlone), ("contextOfCallerInC", contextOfCallerInC), ("extended", extended),
  ("pointersInto", pointersInto), ("rawMemory", rawMemory), ("defers", defers), ("throwing", throwing),
  ("throwsPastOwners", throwsPastOwners), ("optionals", optionals), ("tuples", tuples),
  ("joinsCycles", joinsCycles), ("manyVariables", manyVariables), ("branches", branches),
]
