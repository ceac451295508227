// A hundred thousand cycles from one place are one group.
// EXPECT leak kind=retainCycle types=App.Left,App.Right fields=right,left count=100000 at=left|right
final class Left {
  var right: Right?
}
final class Right {
  var left: Left?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let left = Left()  // @left
  let right = Right()  // @right
  left.right = right
  right.left = left
  use(left)
}
for _ in 0..<100_000 { make() }
