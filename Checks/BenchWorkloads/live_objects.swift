// N live objects, each with two references: `live_objects N [READY-FILE]` waits to be killed if a file is named.
import Glibc

final class Node {
  var next: Node?
  var other: Node?
  init(next: Node?) { self.next = next }
}

nonisolated(unsafe) var nodes: [Node] = []
let count = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1])! : 1_000_000
nodes.reserveCapacity(count)
for index in 0..<count {
  let node = Node(next: nodes.last)
  node.other = index > 100 ? nodes[index / 2] : nil
  nodes.append(node)
}
print(nodes.count)
if CommandLine.arguments.count > 2, let file = fopen(CommandLine.arguments[2], "w") {
  fputs("\(getpid())\n", file)
  fclose(file)
  while true { pause() }
}
exit(0)
