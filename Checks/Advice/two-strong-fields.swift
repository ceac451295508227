// Two objects that refer to each other, by names that say nothing about who owns whom.
// KEPT BY the two fields
// ADVICE make the one of these references that does not own its object `weak` or `unowned`, or set one to nil
// FIX `weak var` for the one that does not own
final class Left { var right: Right? }
final class Right {
  #if FIXED
    weak var left: Left?
  #else
    var left: Left?
  #endif
}
@inline(never) func run() {
  let left = Left()
  left.right = Right()
  left.right?.left = left
}
run()
