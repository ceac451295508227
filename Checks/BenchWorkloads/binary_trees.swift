// Allocates and frees many small class instances from a deep recursion, as the benchmark game's binary trees do.
final class Node {
  let left: Node?
  let right: Node?

  init(depth: Int) {
    left = depth > 0 ? Node(depth: depth - 1) : nil
    right = depth > 0 ? Node(depth: depth - 1) : nil
  }

  func count() -> Int {
    1 + (left?.count() ?? 0) + (right?.count() ?? 0)
  }
}

let maximum = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 17
let longLived = Node(depth: maximum)
var total = 0
for depth in stride(from: 4, through: maximum, by: 4) {
  for _ in 0..<(1 << (maximum - depth + 4)) {
    total += Node(depth: depth).count()
  }
}
print(total, longLived.count())
