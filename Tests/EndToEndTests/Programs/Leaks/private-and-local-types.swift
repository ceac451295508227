// Private and local types: their names must not carry addresses, or signatures would change from run to run.
// EXPECT leak kind=retainCycle types=App.*Hidden fields=other count=3
// EXPECT leak kind=retainCycle types=App.*Local fields=other count=2
// EXPECT leak kind=retainCycle types=App.Outer.Nested fields=other count=2
private final class Hidden {
  var other: Hidden?
}
struct Outer {
  final class Nested {
    var other: Nested?
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeHidden() {
  let first = Hidden()
  let second = Hidden()
  first.other = second
  second.other = first
  use(first)
}
@inline(never) func makeLocal() {
  final class Local {
    var other: Local?
  }
  let first = Local()
  let second = Local()
  first.other = second
  second.other = first
  use(first)
}
@inline(never) func makeNested() {
  let first = Outer.Nested()
  let second = Outer.Nested()
  first.other = second
  second.other = first
  use(first)
}
for _ in 0..<3 { makeHidden() }
for _ in 0..<2 { makeLocal() }
for _ in 0..<2 { makeNested() }
