// Mutual recursion that makes class nodes with arrays and strings, a visitor that gathers arrays, and closures that call closures.
final class Node {
  var name: String
  var children: [Node]
  init(name: String, children: [Node]) {
    self.name = name
    self.children = children
  }
}

struct Source {
  var state: UInt64

  mutating func next(below end: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % end
  }
}

@inline(never) func block(_ source: inout Source, _ depth: Int) -> Node {
  var children: [Node] = []
  for _ in 0..<(1 + source.next(below: 3)) { children.append(statement(&source, depth)) }
  return Node(name: "a block of some statements \(depth)", children: children)
}
@inline(never) func statement(_ source: inout Source, _ depth: Int) -> Node {
  switch depth == 0 ? 3 : source.next(below: 5) {
  case 0, 1: return Node(name: "if", children: [expression(&source, depth - 1), block(&source, depth - 1)])
  case 2: return block(&source, depth - 1)
  default: return Node(name: "assignment to a variable", children: [expression(&source, depth)])
  }
}
@inline(never) func expression(_ source: inout Source, _ depth: Int) -> Node {
  if depth <= 0 || source.next(below: 3) == 0 {
    return Node(name: "value \(source.next(below: 1000)) of a literal", children: [])
  }
  return Node(name: "+", children: [expression(&source, depth - 1), expression(&source, depth - 2)])
}

protocol Visitor { mutating func visit(_ node: Node) -> [String] }
struct Collector: Visitor {
  var count = 0
  mutating func visit(_ node: Node) -> [String] {
    count += 1
    return node.children.flatMap { child in visit(child) } + [node.name]
  }
}

// Each closure makes the next one.
@inline(never) func descend(_ depth: Int, _ next: @escaping (Int) -> Int) -> Int {
  if depth == 0 { return next(0) }
  return descend(depth - 1) { value in next(value + depth) }
    &+ (depth % 3 == 0 ? descend(depth / 2) { value in next(value) } : 0)
}

let rounds = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 120
var total = 0
for round in 0..<rounds {
  var source = Source(state: UInt64(round + 1))
  var tops: [Node] = []
  for _ in 0..<8 { tops.append(block(&source, 11)) }
  var collector = Collector()
  for top in tops { total &+= collector.visit(top).count }
  total &+= collector.count
  for depth in 20..<40 { total &+= descend(depth) { $0 } }
}
print(total)
