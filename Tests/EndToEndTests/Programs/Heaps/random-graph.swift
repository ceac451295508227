// Graphs that are made, changed and cut at random from a seed: every reference, and what each block retains, worked out by the program.
// EXPECT any
// LIBRARY Library/HeapTruth.swift
import Foundation
import HeapTruth

enum Choice {
  case node(Node)
  case leaf(Leaf)
  case nothing
}
struct Entry {
  var number: Int
  var node: Node?
}
final class Node {
  // Behind the header and the number: code and context are the words at 24 and 32.
  let number: Int
  var action: (() -> Node)?
  var one: Node?
  var pair: (Int, Node?) = (0, nil)
  var choice = Choice.nothing
  var any: Any?
  var list: [Node] = []
  var entries: [Entry] = []
  var table: [Int: Node] = [:]
  weak var weak: Node?
  init(_ number: Int) { self.number = number }
}
struct Generator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ state >> 29
  }
}
nonisolated(unsafe) var random = Generator(
  state: UInt64(CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? 1))
nonisolated(unsafe) var roots: [Node] = []

/// The program's own account, by numbers of nodes: what is in the fields of each.
nonisolated(unsafe) var graph: [Int: [(field: String, target: Int)]] = [:]

@inline(never) func connect(_ from: Node, _ to: Node, weakly: Node) {
  let number = from.number
  let target = to.number
  func replace(_ field: String) { graph[number]!.removeAll { $0.field == field } }
  func note(_ field: String) { graph[number]!.append((field, target)) }
  switch Int.random(in: 0..<10, using: &random) {
  case 0:
    replace("one")
    note("one")
    from.one = to
  case 1:
    replace("pair.1")
    note("pair.1")
    from.pair.1 = to
  case 2:
    replace("choice")
    note("choice")
    from.choice = .node(to)
  case 3:
    replace("choice")
    from.choice = .leaf(Leaf())
  case 4:
    replace("any")
    note("any")
    from.any = to
  case 5:
    note("list")
    from.list.append(to)
  case 6:
    note("entries")
    from.entries.append(Entry(number: 1, node: to))
  case 7:
    let key = from.table.count
    note("table")
    from.table[key] = to
  case 8:
    replace("action")
    note("action")
    from.action = { to }
  default: from.weak = weakly
  }
}

@inline(never) func build() {
  let count = 300
  let nodes = (0..<count).map(Node.init)
  for i in 0..<count { graph[i] = [] }
  for _ in 0..<900 {
    connect(
      nodes.randomElement(using: &random)!, nodes.randomElement(using: &random)!,
      weakly: nodes.randomElement(using: &random)!)
  }
  for node in nodes.shuffled(using: &random).prefix(8) { roots.append(node) }
  // Some lists lose what they had.
  for node in nodes where Int.random(in: 0..<12, using: &random) == 0 {
    node.list = []
    graph[node.number]!.removeAll { $0.field == "list" }
  }
}

/// Blocks by address, with their size and whom they own; what is not reachable from `roots` is left out.
struct Account {
  var size: [UInt: Int] = [:]
  var owns: [UInt: [UInt]] = [:]

  mutating func reference(_ from: UInt, _ field: String, _ to: UInt, _ strength: String = "counted") {
    tellReference(from, field, to, strength)
    owns[from, default: []].append(to)
    size[to] = usableSize(to)
  }

  func reachable(from roots: [UInt], without: UInt?) -> Set<UInt> {
    var seen = Set<UInt>()
    var waiting = roots.filter { $0 != without }
    while let block = waiting.popLast() {
      if seen.insert(block).inserted { waiting += (owns[block] ?? []).filter { $0 != without } }
    }
    return seen
  }
}

@inline(never) func visit(_ node: Node, _ seen: inout Set<Int>, _ account: inout Account) {
  guard seen.insert(node.number).inserted else { return }
  let own = address(node)
  account.size[own] = usableSize(own)
  // The table of its weak references goes with it: a word with both upper bits set is its address, by 8.
  let counts = UnsafeRawPointer(bitPattern: own)!.load(fromByteOffset: 8, as: UInt.self)
  if counts >> 62 == 3, counts != .max {
    let table = (counts & .max >> 2) << 3
    account.owns[own, default: []].append(table)
    account.size[table] = usableSize(table)
  }
  func targets(_ field: String) -> [Int] { graph[node.number]!.filter { $0.field == field }.map(\.target) }
  func expect(_ found: [Node], _ field: String) {
    precondition(found.map(\.number) == targets(field), "the account is wrong: \(field)")
    for next in found { visit(next, &seen, &account) }
  }
  if let one = node.one { account.reference(own, "one", address(one)) }
  if let pair = node.pair.1 { account.reference(own, "pair.1", address(pair)) }
  if case .node(let next) = node.choice { account.reference(own, "choice", address(next)) }
  if case .leaf(let leaf) = node.choice { account.reference(own, "choice", address(leaf)) }
  if let any = node.any { account.reference(own, "any", address(any as AnyObject)) }
  if !node.list.isEmpty {
    account.reference(own, "list", storage(node.list))
    for next in Set(node.list.map(address)) {
      let times = node.list.count { address($0) == next }
      tell("references", String(storage(node.list), radix: 16), "[]", String(next, radix: 16), "counted", "\(times)")
      account.owns[storage(node.list), default: []].append(next)
    }
  }
  if !node.entries.isEmpty {
    account.reference(own, "entries", storage(node.entries))
    account.owns[storage(node.entries)] = node.entries.map { address($0.node!) }
  }
  if !node.table.isEmpty {
    account.reference(own, "table", storage(node.table))
    account.owns[storage(node.table)] = node.table.values.map(address)
  }
  if node.action != nil {
    let context = UnsafeRawPointer(bitPattern: own)!.load(fromByteOffset: 32, as: UInt.self)
    account.reference(own, "action", context)
    // A closure that captures nothing but an object has no context of its own: it is the object.
    precondition(context == address(node.action!()), "the closure has a context of its own")
  }
  if let weak = node.weak, graph[weak.number] != nil {
    tell("weak", String(own, radix: 16), String(address(weak), radix: 16))
  }
  expect(node.one.map { [$0] } ?? [], "one")
  expect(node.pair.1.map { [$0] } ?? [], "pair.1")
  if case .node(let next) = node.choice { expect([next], "choice") }
  expect((node.any as? Node).map { [$0] } ?? [], "any")
  expect(node.list, "list")
  expect(node.entries.map { $0.node! }, "entries")
  expect(node.table.keys.sorted().map { node.table[$0]! }, "table")
  if let action = node.action { expect([action()], "action") }
}

@inline(never) func tellAll() {
  var seen = Set<Int>()
  var account = Account()
  for root in roots { visit(root, &seen, &account) }
  tellRoot(storage(roots), "roots")
  account.size[storage(roots)] = usableSize(storage(roots))
  account.owns[storage(roots)] = roots.map(address)
  let all = account.reachable(from: [storage(roots)], without: nil)
  for block in all.sorted() {
    let rest = account.reachable(from: [storage(roots)], without: block)
    tellRetained(block, all.subtracting(rest).reduce(0) { $0 + account.size[$1]! })
  }
}
build()
tellAll()
exit(0)
