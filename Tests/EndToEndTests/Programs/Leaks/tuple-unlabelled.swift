// Unlabelled tuples and an optional tuple.
// EXPECT leak kind=retainCycle types=App.Left,App.Right fields=pair,back count=3 at=left|right
final class Left {
  var pair: (Int, Right?) = (1, nil)
}
final class Right {
  var back: (Left, Int)?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let left = Left()  // @left
  let right = Right()  // @right
  left.pair.1 = right
  right.back = (left, 2)
  use(left)
}
for _ in 0..<3 { make() }
