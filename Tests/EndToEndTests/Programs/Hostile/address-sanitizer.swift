// Built with a sanitizer, which brings its own malloc: the tool stands aside and the program runs as ever.
// EXPECT any
// FLAGS -sanitize=address
final class Node {
  var bytes = [UInt8](repeating: 1, count: 100)
}
var nodes: [Node] = []
for _ in 0..<1000 { nodes.append(Node()) }
print(nodes.count)
