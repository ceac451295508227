// exit() is called while objects are being deinitialised: what they still hold is not a leak.
// EXPECT silent
import Glibc

final class Leaf {
  var number = 1
}
final class Branch {
  var leaves = [Leaf(), Leaf(), Leaf()]
  var next: Branch?
  var last = false
  deinit {
    if last { exit(0) }
  }
}
@inline(never) func work() {
  let first = Branch()
  let second = Branch()
  let third = Branch()
  first.next = second
  second.next = third
  third.last = true
  print(first.leaves.count)
}
work()
print("not reached")
