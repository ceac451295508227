// Objects that only frames of suspended tasks own, in cycles, while tasks wait, hop and run; looked at many times.
// EXPECT silent
// HEADER ../Support/scan.h
import Foundation

final class Node: @unchecked Sendable {
  var next: Node?
  var list: [Node] = []
  var action: (() async -> Int)?
  let value: Int
  init(_ value: Int) { self.value = value }
  deinit { next = nil }

  func wait() async -> Int {
    await shortly()
    return value
  }
  func visit(_ other: Node) async -> Int {
    await shortly()
    return await other.wait() + value
  }
}
actor Room {
  let node: Node
  var nodes: [Node] = []
  init() { node = makeCycle(1) }
  func enter(_ node: Node) async -> Int {
    nodes.append(node)
    await shortly()
    nodes.removeAll { $0 === node }
    return nodes.count
  }
  func own() async -> Int { await node.visit(node) }
  func leave() { breakCycle(node) }
}
@inline(never) func shortly() async {
  await Task.yield()
  try? await Task.sleep(nanoseconds: 50_000)
}
@inline(never) func makeCycle(_ value: Int) -> Node {
  let first = Node(value)
  let second = Node(value + 1)
  first.next = second
  second.next = first
  return first
}
@inline(never) func breakCycle(_ node: Node) {
  node.next?.next = nil
  node.next = nil
  node.list = []
  node.action = nil
}
func plain(_ value: Int) async -> Int {
  let node = makeCycle(value)
  await shortly()
  let result = await node.wait()
  breakCycle(node)
  return result
}
func visiting(_ value: Int) async -> Int {
  let node = makeCycle(value)
  let result = await node.visit(node.next ?? node)
  breakCycle(node)
  return result
}
func ofItself(_ value: Int) async -> Int {
  let node = Node(value)
  node.next = node
  node.list = [node, node]
  await shortly()
  node.list.append(node)
  await shortly()
  breakCycle(node)
  return node.value
}
func closures(_ value: Int) async -> Int {
  let node = Node(value)
  node.action = {
    await shortly()
    return node.value
  }
  let result = await node.action?() ?? 0
  breakCycle(node)
  return result
}
func children(_ value: Int) async -> Int {
  let node = makeCycle(value)
  async let first = node.wait()
  async let second = node.visit(node)
  await shortly()
  let sum = await first + second
  breakCycle(node)
  return sum
}
func groups(_ value: Int) async -> Int {
  let nodes = (0..<4).map { makeCycle($0) }
  let sum = await withTaskGroup(of: Int.self) { group in
    for node in nodes { group.addTask { await node.wait() } }
    var sum = 0
    for await part in group { sum += part }
    return sum
  }
  nodes.forEach(breakCycle)
  return sum
}
func rooms(_ value: Int) async -> Int {
  let room = Room()
  let node = makeCycle(value)
  let result = await room.enter(node) + room.own()
  await room.leave()
  breakCycle(node)
  return result
}
func streams(_ value: Int) async -> Int {
  let (stream, continuation) = AsyncStream<Node>.makeStream()
  for index in 0..<3 { continuation.yield(makeCycle(index)) }
  continuation.finish()
  var sum = 0
  for await node in stream {
    await shortly()
    sum += node.value
    breakCycle(node)
  }
  return sum
}
func continuations(_ value: Int) async -> Int {
  let node = makeCycle(value)
  let same: Node = await withCheckedContinuation { continuation in
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(100)) { continuation.resume(returning: node) }
  }
  await shortly()
  breakCycle(same)
  return same.value
}
func inOut(_ value: Int) async -> Int {
  func replace(_ node: inout Node) async {
    await shortly()
    let old = node
    node = makeCycle(value)
    await shortly()
    breakCycle(old)
  }
  var node = makeCycle(value)
  await replace(&node)
  await shortly()
  breakCycle(node)
  return node.value
}
func unstructured(_ value: Int) async -> Int {
  let node = makeCycle(value)
  let task = Task { await node.visit(node) }
  await shortly()
  let result = await task.value
  breakCycle(node)
  return result
}
func throwing(_ value: Int) async -> Int {
  let node = makeCycle(value)
  defer { breakCycle(node) }
  do {
    await shortly()
    throw CancellationError()
  } catch {
    return await node.wait()
  }
}
let all: [@Sendable (Int) async -> Int] = [
  plain, visiting, ofItself, closures, children, groups, rooms, streams, continuations, inOut, unstructured, throwing,
]
nonisolated(unsafe) var goesOn = true
let ended = DispatchSemaphore(value: 0)
for start in 0..<40 {
  Task.detached {
    var sum = 0
    var index = start
    while goesOn {
      sum &+= await all[index % all.count](index)
      index += 1
    }
    if sum == 42 { print("by chance") }
    ended.signal()
  }
}
var falseReports = 0
let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 100 : 100
for _ in 0..<rounds { falseReports += Int(undead_test_result(false, false).leaked) }
goesOn = false
for _ in 0..<40 { ended.wait() }
print("false reports: \(falseReports)")
