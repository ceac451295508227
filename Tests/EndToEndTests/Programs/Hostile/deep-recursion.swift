// A hundred thousand frames, allocations on the way down and up.
// EXPECT silent
// SHELL ulimit -s 100000; exec $RUN
final class Frame {
  let number: Int
  var up: Frame?
  init(_ number: Int, _ up: Frame?) {
    self.number = number
    self.up = up
  }
}
@inline(never) func descend(_ depth: Int, _ frame: Frame?) -> Int {
  let own = Frame(depth, nil)
  guard depth > 0 else { return own.number }
  return descend(depth - 1, own) + (own.number % 2)
}
print(descend(100_000, nil))
