// Objects, closures, boxes, and references that count nothing.
import CParts
import Glibc
import Synchronization

private class Node {
  weak var parent: Node?
  unowned let owner: Owner
  var children: [Node] = []
  let number: Int
  init(_ owner: Owner, _ number: Int) { (self.owner, self.number) = (owner, number) }
  func add(_ number: Int) -> Node {
    let node = number % 2 == 0 ? Node(owner, number) : Leaf(owner, number)
    node.parent = self
    children.append(node)
    return node
  }
  func sum() -> Int { children.reduce(number + owner.bonus + (parent == nil ? 1 : 0)) { $0 + $1.sum() } }
}
private final class Leaf: Node {
  var extra: (Int, String) = (1, "more than fifteen bytes of text")
  override func sum() -> Int { super.sum() + extra.0 + extra.1.utf8.count }
}
private final class Owner {
  let bonus: Int
  init(_ bonus: Int) { self.bonus = bonus }
}

private func trees(_ round: Int) -> Int {
  let owner = Owner(round)
  var root: Node? = Node(owner, 0)
  var level = [root!]
  for depth in 1...4 { level = level.flatMap { node in [node.add(depth), node.add(depth + 1)] } }
  let sum = root!.sum()
  let orphan = level[3]
  root = nil
  level = []
  return sum + orphan.sum()
}

private final class Held { var value = 5 }

private func extendedLifetime(_ round: Int) -> Int {
  var sum = 0
  for _ in 0..<20 {
    let held = Held()
    let reference = Unmanaged.passUnretained(held)
    sum += withExtendedLifetime(held) { reference._withUnsafeGuaranteedRef { $0.value + round } }
    let address = Unmanaged.passRetained(Held()).toOpaque()
    sum += Unmanaged<Held>.fromOpaque(address).takeUnretainedValue().value
    Unmanaged<Held>.fromOpaque(address).release()
  }
  return sum
}

/// Each object is ended by one thread while others take it through weak references: they get it or nothing.
private func weakRaces(_ round: Int) -> Int {
  final class Box: @unchecked Sendable {
    var strong: Held? = Held()
    weak var weak: Held?
    init() { weak = strong }
  }
  let boxes = (0..<40).map { _ in Box() }
  let threads = (0..<3).map { _ in
    Thread1 { for box in boxes { if let held = box.weak, held.value != 5 { fatalError("\(held.value)") } } }
  }
  for box in boxes { box.strong = nil }
  for one in threads { one.join() }
  return boxes.filter { $0.weak == nil }.count + round
}

/// A POSIX thread that runs a closure.
final class Thread1 {
  private var thread = pthread_t()
  init(_ body: @escaping () -> Void) {
    final class Start {
      let body: () -> Void
      init(_ body: @escaping () -> Void) { self.body = body }
    }
    pthread_create(
      &thread, nil,
      { context in
        Unmanaged<Start>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(Start(body)).toOpaque())
  }
  func join() { pthread_join(thread, nil) }
}

/// Uses itself in its deinit, balanced.
private final class Closing {
  static nonisolated(unsafe) var closed = 0
  var parts: [Held] = [Held(), Held()]
  var closing: [() -> Int] = []
  deinit {
    closing.append { 1 }
    let number = note(self)
    Closing.closed += number + closing.reduce(0) { $0 + $1() }
  }
}
@inline(never) private func note(_ object: Closing) -> Int {
  let copy = opaque(object)
  return copy.parts.reduce(0) { $0 + $1.value }
}
private func deinits(_ round: Int) -> Int {
  Closing.closed = 0
  for _ in 0..<10 + round { _ = opaque(Closing()) }
  return Closing.closed
}

private enum Problem: Error {
  case late(Int, String)
  indirect case caused(Problem, by: Problem)
}
@inline(never) private func fail(_ number: Int) throws -> Int {
  guard number % 3 != 0 else {
    throw Problem.caused(.late(number, "a text of more than fifteen bytes"), by: .late(1, "x"))
  }
  return number
}
private protocol Shape { var area: Int { get } }
private struct Large: Shape {
  var a = 1, b = 2, c = 3, d = 4, name = "a name of more than fifteen bytes"
  var area: Int { a + b + c + d + name.utf8.count }
}
private func boxes(_ round: Int) -> Int {
  var sum = 0
  for i in 0..<30 + round {
    do { sum += try fail(i) } catch Problem.caused(.late(let number, let text), by: _) {
      sum += number + text.utf8.count
    } catch {}
    let shapes: [any Shape] = [Large(), Large(a: i)]
    sum += shapes.reduce(0) { $0 + $1.area }
    let any: Any = i % 2 == 0 ? Large() as Any : "a string of more than fifteen bytes"
    sum += (any as? any Shape)?.area ?? (any as? String)?.utf8.count ?? 0
  }
  return sum
}

private func closures(_ round: Int) -> Int {
  var count = round
  let object = Held()
  let add: (Int) -> Int = { [weak object] number in
    count += number
    return count + (object?.value ?? 0)
  }
  var stored: [(Int) -> Int] = (0..<10).map { i in { $0 + i + count } } + [add]
  var sum = stored.reduce(0) { $0 + $1(2) }
  func recurse(_ depth: Int) -> Int { depth == 0 ? count : recurse(depth - 1) + 1 }
  stored.append { _ in recurse(3) }
  sum += stored.last!(1)
  sum += withoutActuallyEscaping(add) { [$0].map { $0(1) }[0] }
  let paths: [KeyPath<Held, Int>] = [\.value, \Held.value]
  return sum + paths.reduce(0) { $0 + object[keyPath: $1] } + object[keyPath: (\Held.self).appending(path: \.value)]
}

private func reflection(_ round: Int) -> Int {
  let values: [Any] = [Large(), Leaf(Owner(1), 2), Problem.late(1, "text"), [1: "a"], (1, "b", Held())]
  var sum = round
  for value in values {
    let mirror = Mirror(reflecting: value)
    sum += mirror.children.count + mirror.children.reduce(0) { $0 + String(describing: type(of: $1.value)).utf8.count }
    if let node = value as? Node { sum += (node as? Leaf)?.extra.0 ?? 0 }
    sum += (value as AnyObject) is Held ? 1 : 0
  }
  return sum
}

/// Objects are handed from thread to thread by address, each with the reference that belongs to it.
private func handedOver(_ round: Int) -> Int {
  let stack = Mutex<[UInt]>([])
  let sum = Atomic<Int>(0)
  let threads = (0..<4).map { number in
    Thread1 {
      for _ in 0..<25 {
        if number < 2 {
          let address = UInt(bitPattern: Unmanaged.passRetained(Held()).toOpaque())
          stack.withLock { $0.append(address) }
        } else if let address = stack.withLock({ $0.popLast() }) {
          let held = Unmanaged<Held>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeRetainedValue()
          sum.add(held.value, ordering: .relaxed)
        }
      }
    }
  }
  for one in threads { one.join() }
  for address in stack.withLock({ $0 }) {
    let held = Unmanaged<Held>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeRetainedValue()
    sum.add(held.value, ordering: .relaxed)
  }
  return sum.load(ordering: .relaxed) + round
}

private func contextsOfC(_ round: Int) -> Int {
  final class Context {
    var calls = 0
    let name = "a context of C"
  }
  let list = parts_list_new()
  for _ in 0..<12 { parts_list_add(list, Unmanaged.passRetained(Context()).toOpaque()) }
  parts_list_end(list) { Unmanaged<Context>.fromOpaque($0!).release() }
  let context = Context()
  var jumps = 0
  for depth in 0..<4 {
    jumps += Int(
      parts_jump(
        Int32(depth),
        { context in Unmanaged<Context>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.calls += 1 } },
        Unmanaged.passUnretained(context).toOpaque()))
  }
  var numbers = (0..<50).map { ($0 * 7919 + round) % 101 }
  qsort(&numbers, numbers.count, MemoryLayout<Int>.size) { a, b in
    Int32(a!.load(as: Int.self) - b!.load(as: Int.self))
  }
  return jumps + context.calls + numbers[10]
}

let objects: [(name: String, run: (Int) -> Int)] = [
  ("trees", trees), ("extended-lifetime", extendedLifetime), ("weak-races", weakRaces), ("deinits", deinits),
  ("boxes", boxes), ("closures", closures), ("reflection", reflection), ("handed-over", handedOver),
  ("contexts-of-c", contextsOfC),
]
