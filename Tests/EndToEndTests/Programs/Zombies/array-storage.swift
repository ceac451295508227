// The storage of an array is used after the array is gone: it dies inside of the runtime's own library.
// EXPECT zombie kind=field|retain|method type=Swift._ContiguousArrayStorage<*> allocated=make freed=drop used=show
// EXPECT crash
final class Node {
  let number: Int
  init(_ number: Int) { self.number = number }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> [Node] { (0..<4).map { Node($0) } }
nonisolated(unsafe) var nodes = make()
@inline(never) @_optimize(none) func elements() -> UnsafeBufferPointer<Node> { nodes.withUnsafeBufferPointer { $0 } }
@inline(never) func drop() {
  nodes = []
  done()
}
@inline(never) func show(_ elements: UnsafeBufferPointer<Node>) -> Int { elements[2].number }

let dead = elements()
drop()
print(show(dead))
