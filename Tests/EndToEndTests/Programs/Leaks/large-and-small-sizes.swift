// Leaks of very different sizes: a huge array that was mapped, and the smallest object there is.
// EXPECT leak kind=retainCycle types=App.Huge fields=again count=2
// EXPECT leak kind=unreferenced types=App.Empty count=9
final class Huge {
  var numbers = [Int](repeating: 3, count: 1_000_000)
  var again: Huge?
}
final class Empty {}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeHuge() {
  let huge = Huge()
  huge.again = huge
  use(huge)
}
@inline(never) func makeEmpty() {
  let empty = Empty()
  _ = Unmanaged.passRetained(empty)
  use(empty)
}
for _ in 0..<2 { makeHuge() }
for _ in 0..<9 { makeEmpty() }
