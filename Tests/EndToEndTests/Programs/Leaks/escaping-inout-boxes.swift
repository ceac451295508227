// Two closures share a captured variable that holds an object, which holds both closures.
// EXPECT leak kind=retainCycle types=App.Counter count=3
final class Counter {
  var increment: (() -> Void)?
  var read: (() -> Int)?
  var previous: Counter?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let counter = Counter()
  var value = 0
  var owner: Counter? = counter
  counter.increment = {
    value += 1
    if value < 0 { owner = nil }
  }
  counter.read = { value + (owner == nil ? 1 : 0) }
  counter.increment?()
  print(counter.read?() ?? 0)
  use(counter)
}
for _ in 0..<3 { make() }
