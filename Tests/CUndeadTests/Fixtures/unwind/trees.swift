// Makes binary trees: nearly each node has another stack.
final class Node {
  let left: Node?, right: Node?
  init(_ left: Node?, _ right: Node?) {
    self.left = left
    self.right = right
  }
}

func build(_ depth: Int) -> Node { depth == 0 ? Node(nil, nil) : Node(build(depth - 1), build(depth - 1)) }
func count(_ node: Node) -> Int { 1 + (node.left.map(count) ?? 0) + (node.right.map(count) ?? 0) }
print((0..<4).reduce(0) { sum, _ in sum + count(build(11)) })
