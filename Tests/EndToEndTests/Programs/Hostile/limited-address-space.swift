// Little address space: the program runs as without the tool.
// EXPECT silent
// SHELL ulimit -v 3000000; exec $RUN
final class Node {
  var bytes = [UInt8](repeating: 1, count: 1000)
}
var nodes: [Node] = []
for _ in 0..<20_000 { nodes.append(Node()) }
print(nodes.count)
