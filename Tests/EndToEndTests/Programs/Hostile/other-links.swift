// Built with a sanitizer, which brings its own malloc, or as a static executable, which cannot be preloaded: the tool stands aside
// and the program runs as ever.
// EXPECT any
// CASE address-sanitizer
// FLAGS -sanitize=address
// CASE thread-sanitizer
// FLAGS -sanitize=thread
// CASE static-executable
// FLAGS -static-executable
final class Node {
  var bytes = [UInt8](repeating: 1, count: 100)
}
var nodes: [Node] = []
for _ in 0..<1000 { nodes.append(Node()) }
print(nodes.count)
