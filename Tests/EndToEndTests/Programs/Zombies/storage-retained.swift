// The storage of a dictionary is retained after the dictionary is gone.
// EXPECT zombie kind=retain|release type=Swift._DictionaryStorage<*> allocated=make freed=drop used=adopt
// EXPECT crash
final class Node {}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> [Int: Node] {
  var nodes: [Int: Node] = [:]
  for number in 0..<20 { nodes[number] = Node() }
  return nodes
}
nonisolated(unsafe) var nodes = make()
// A native dictionary is one reference to its storage.
@inline(never) @_optimize(none) func storage() -> Unmanaged<AnyObject> {
  withUnsafeBytes(of: &nodes) { Unmanaged.fromOpaque($0.load(as: UnsafeRawPointer.self)) }
}
@inline(never) func drop() {
  nodes = [:]
  done()
}
@inline(never) func adopt(_ storage: Unmanaged<AnyObject>) {
  _ = storage.retain()
  done()
}

let dead = storage()
drop()
adopt(dead)
print("the end")
