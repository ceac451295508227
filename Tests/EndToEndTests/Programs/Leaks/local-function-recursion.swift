// A local function that refers to itself and is stored.
// EXPECT leak kind=retainCycle types=App.Walker fields=step count=3 at=walker closure=start
final class Walker {
  var step: ((Int) -> Int)?
  var limit = 10

  func start(offset: Int) {
    func walk(_ position: Int) -> Int {
      position >= limit ? position : walk(position + offset)
    }
    step = walk
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeWalker() {
  let walker = Walker()  // @walker
  walker.start(offset: 3)
  print(walker.step?(0) ?? 0)
  use(walker)
}
for _ in 0..<3 { makeWalker() }
