// Objects that only frames of waiting threads own, in cycles, while they are built and changed; looked at many times.
// EXPECT silent
// HEADER ../Support/scan.h
import Foundation

protocol Peer: AnyObject { var other: (any Peer)? { get set } }
enum Payload {
  case none
  case one(Node)
  case two(Node, Node)
  case number(UInt64)
}
final class Node: Peer {
  var next: Node?
  var list: [Node] = []
  var table: [Int: Node] = [:]
  var action: (() -> Int)?
  var payload = Payload.none
  var anything: Any = 0
  var other: (any Peer)?
  let value: Int
  init(_ value: Int) { self.value = value }
  deinit { next = nil }
}
struct Parts {
  var first: Node
  var second: Node?
  var rest: [Node]
}
final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}

// Calls that the compiler cannot look into, in which threads are stopped most of the time.
@inline(never) func waitShortly() { usleep(20) }
@inline(never) func callKernel() {
  _ = getppid()
  sched_yield()
}
let lock = NSLock()
@inline(never) func waitForLock() {
  lock.lock()
  usleep(5)
  lock.unlock()
}
@inline(never) func use(_ number: Int) -> Int {
  var copy = number
  withUnsafeMutablePointer(to: &copy) { place in
    waitShortly()
    place.pointee += 1
  }
  return copy
}
@inline(never) func makeCycle(_ value: Int) -> Node {
  let first = Node(value)
  let second = Node(value + 1)
  first.next = second
  waitShortly()
  second.next = first
  waitShortly()
  return first
}
@inline(never) func breakCycle(_ node: Node) {
  waitShortly()
  node.next?.next = nil
  waitShortly()
  node.next = nil
}

func makeClosures(_ value: Int) -> [() -> Int] {
  let node = makeCycle(value)
  let read: () -> Int = {
    waitShortly()
    return node.value
  }
  let end: () -> Int = {
    breakCycle(node)
    return 0
  }
  return [read, end]
}
func callThroughClosures(_ value: Int) -> Int {
  let actions = makeClosures(value)
  waitShortly()
  return actions[0]() + actions[1]()
}

func cycle(_ value: Int) -> Int {
  let node = makeCycle(value)
  let result = use(node.value)
  breakCycle(node)
  return result
}
func selfReference(_ value: Int) -> Int {
  let node = Node(value)
  node.next = node
  waitShortly()
  defer { node.next = nil }
  return node.value
}
func arrayOfItself(_ value: Int) -> Int {
  let node = Node(value)
  node.list = [node, node]
  waitShortly()
  node.list.append(node)
  waitShortly()
  defer { node.list = [] }
  return node.list.count
}
func tableOfItself(_ value: Int) -> Int {
  let node = Node(value)
  node.table[1] = node
  waitShortly()
  node.table[2] = node
  waitShortly()
  node.table = [:]
  return node.value
}
func closureOfItself(_ value: Int) -> Int {
  let node = Node(value)
  node.action = { node.value }
  waitShortly()
  defer { node.action = nil }
  return node.action?() ?? 0
}
func payloads(_ value: Int) -> Int {
  let first = Node(value)
  let second = Node(value)
  first.payload = .two(first, second)
  waitShortly()
  first.payload = .one(second)
  second.payload = .one(first)
  waitShortly()
  first.payload = .number(UInt64(value))
  return second.value
}
func anything(_ value: Int) -> Int {
  let node = Node(value)
  node.anything = Parts(first: node, second: node, rest: [node])
  waitShortly()
  node.anything = 5
  waitShortly()
  node.anything = node
  waitShortly()
  node.anything = 0
  return node.value
}
func existentials(_ value: Int) -> Int {
  let first = Node(value)
  let second = Node(value)
  first.other = second
  second.other = first
  waitForLock()
  second.other = nil
  return first.value
}
func structs(_ value: Int) -> Int {
  var parts = Parts(first: Node(value), second: nil, rest: [])
  parts.second = parts.first
  parts.rest = [parts.first]
  parts.first.list = parts.rest
  waitShortly()
  parts.first.list = []
  return parts.rest.count
}
func generics(_ value: Int) -> Int {
  let box = Box<(Node, Int, Node?)>((makeCycle(value), 1, nil))
  box.value.2 = box.value.0
  waitShortly()
  breakCycle(box.value.0)
  return box.value.1
}
func replaceVariable(_ value: Int) -> Int {
  var node = makeCycle(value)
  waitShortly()
  let old = node
  node = makeCycle(value + 1)
  waitShortly()
  breakCycle(old)
  waitShortly()
  breakCycle(node)
  return 1
}
func arrays(_ value: Int) -> Int {
  var nodes = (0..<5).map { makeCycle($0 + value) }
  waitShortly()
  nodes.swapAt(0, 4)
  let last = nodes.removeLast()
  waitShortly()
  breakCycle(last)
  nodes.forEach(breakCycle)
  return nodes.count
}
func weakReference(_ value: Int) -> Int {
  let node = makeCycle(value)
  weak var reference = node
  waitShortly()
  let result = reference?.value ?? 0
  breakCycle(node)
  return result
}
func unownedReference(_ value: Int) -> Int {
  let node = makeCycle(value)
  unowned let reference = node
  waitShortly()
  let result = reference.value
  breakCycle(node)
  return result
}
func throwing(_ value: Int) -> Int {
  do {
    let node = makeCycle(value)
    waitShortly()
    breakCycle(node)
    throw CancellationError()
  } catch {
    waitShortly()
    return 2
  }
}
func unmanaged(_ value: Int) -> Int {
  let kept = Unmanaged.passRetained(makeCycle(value))
  waitShortly()
  let node = kept.takeUnretainedValue()
  waitShortly()
  breakCycle(node)
  kept.release()
  return 1
}
func sorting(_ value: Int) -> Int {
  let node = makeCycle(value)
  guard let second = node.next else { return 0 }
  let sorted = [node, second].sorted {
    waitShortly()
    return $0.value < $1.value
  }
  breakCycle(node)
  return sorted.count
}
func iterating(_ value: Int) -> Int {
  var iterator = [makeCycle(value), makeCycle(value + 1)].makeIterator()
  var count = 0
  while let node = iterator.next() {
    waitShortly()
    breakCycle(node)
    count += 1
  }
  return count
}
func joinCycles(_ value: Int) -> Int {
  let first = makeCycle(value)
  callKernel()
  let second = makeCycle(value)
  first.next?.list.append(second)
  second.list.append(first)
  callKernel()
  waitShortly()
  second.list = []
  first.next?.list = []
  breakCycle(first)
  breakCycle(second)
  return 1
}
func exchange(_ value: Int) -> Int {
  func replace(_ node: inout Node) {
    waitShortly()
    let old = node
    node = makeCycle(value)
    waitShortly()
    breakCycle(old)
  }
  var node = makeCycle(value)
  replace(&node)
  waitShortly()
  breakCycle(node)
  return 1
}
func dispatching(_ value: Int) -> Int {
  let node = makeCycle(value)
  let done = DispatchSemaphore(value: 0)
  DispatchQueue.global().async {
    waitShortly()
    done.signal()
  }
  done.wait()
  breakCycle(node)
  return 1
}

let changes: [(Int) -> Int] = [
  cycle, selfReference, arrayOfItself, tableOfItself, closureOfItself, payloads,
  anything, existentials, structs, generics, replaceVariable, arrays,
  weakReference, unownedReference, throwing, unmanaged, sorting, iterating,
  joinCycles, exchange, dispatching, callThroughClosures,
]

nonisolated(unsafe) var goesOn = true
let ended = DispatchSemaphore(value: 0)
for start in 0..<3 {
  Thread {
    var sum = 0
    var index = start * 7
    while goesOn {
      sum &+= changes[index % changes.count](index)
      index += 1
    }
    _ = use(sum)
    ended.signal()
  }.start()
}

var falseReports = 0
for _ in 0..<100 { falseReports += Int(undead_test_result(false, false).leaked) }
goesOn = false
for _ in 0..<3 { ended.wait() }
print("false reports: \(falseReports)")
