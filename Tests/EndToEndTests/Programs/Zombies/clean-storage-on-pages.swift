// Storage that the library and the program allocate, grow, share and free, and boxes of all kinds: nothing is dead when it is used.
// EXPECT silent
final class Buffer: ManagedBuffer<Int, String> {
  deinit { _ = withUnsafeMutablePointers { count, elements in elements.deinitialize(count: count.pointee) } }
}
indirect enum Tree {
  case leaf(Int)
  case node(Tree, Tree)
}
struct Large { var a = 1, b = 2, c = 3, d = 4 }

func tree(_ depth: Int) -> Tree { depth == 0 ? .leaf(depth) : .node(tree(depth - 1), tree(depth - 1)) }
func leaves(_ tree: Tree) -> Int {
  switch tree {
  case .leaf: 1
  case .node(let left, let right): leaves(left) + leaves(right)
  }
}
func counter<T>(_ value: T) -> () -> T {
  var variable = value
  return {
    let current = variable
    variable = current
    return current
  }
}
func text(_ count: Int) -> Int {
  var text = ""
  for i in 0..<count { text += "item \(i)," }
  text.withUTF8 { _ = $0[3] }
  return text.split(separator: ",").map(String.init).joined(separator: ",").utf8.count
}
func buffer(_ count: Int) -> Int {
  let buffer = Buffer.create(minimumCapacity: count) { _ in count }
  buffer.withUnsafeMutablePointerToElements { for i in 0..<count { ($0 + i).initialize(to: "element number \(i)") } }
  return buffer.header
}

var sum = 0
var table: [String: [Int]] = [:]
var boxes: [Any] = []
for round in 0..<50 {
  sum += text(round + 1) + buffer(round % 7 + 1) + leaves(tree(4))
  table["key \(round % 20)", default: []].append(round)
  boxes.append(Large(a: counter(round)()))
  if round % 3 == 0 { boxes.removeFirst() }
}
print(sum > 0, Set(table.keys).contains("key 7"), boxes.contains { ($0 as? Large)?.a == 49 }, table.count)
