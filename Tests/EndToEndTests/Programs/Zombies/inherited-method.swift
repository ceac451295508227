// An inherited method: the type is that of the object, the method that of its superclass.
// EXPECT zombie kind=method type=App.Leaf member=Node.describe() allocated=make freed=drop used=show
// EXPECT crash
class Node {
  var name = "n"
  func describe() -> String { name }
}

class Middle: Node {
  override func describe() -> String { "middle" }
}

class Leaf: Node {
  var value = 1
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make(_ leaf: Bool) -> Unmanaged<Node> {
  Unmanaged.passRetained(leaf ? Leaf() as Node : Middle())
}
@inline(never) func drop(_ node: Unmanaged<Node>) {
  node.release()
  done()
}
@inline(never) @_optimize(none) func show(_ node: Unmanaged<Node>) {
  print(node._withUnsafeGuaranteedRef { $0.describe() })
}

let node = make(true)
drop(node)
show(node)
