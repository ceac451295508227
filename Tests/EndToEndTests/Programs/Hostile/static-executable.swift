// A static executable cannot be preloaded: it runs as ever.
// EXPECT any
// FLAGS -static-executable
final class Node {
  var bytes = [UInt8](repeating: 1, count: 100)
}
var nodes: [Node] = []
for _ in 0..<1000 { nodes.append(Node()) }
print(nodes.count)
