// An over-retained root without a cycle, in a generic class with a tail of its own.
// MODULE Trees
// EXPECT leak kind=unreferenced types=Trees.Tree<Swift.Int> count=3 at=root
final class Tree<Value> {
  let value: Value
  var left: Tree?
  var right: Tree?
  init(_ value: Value, _ left: Tree? = nil, _ right: Tree? = nil) {
    self.value = value
    self.left = left
    self.right = right
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func grow() {
  let leaves = (Tree(1), Tree(3))
  let root = Tree(2, leaves.0, leaves.1)  // @root
  _ = Unmanaged.passRetained(root)
  use(root)
}
for _ in 0..<3 { grow() }
