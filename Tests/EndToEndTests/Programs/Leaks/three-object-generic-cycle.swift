// A ring of three generic objects; two specialisations are two different leaks.
// MODULE Rings
// EXPECT leak kind=retainCycle types=Rings.Link<Swift.Int> fields=next count=4 at=first|second|third
// EXPECT leak kind=retainCycle types=Rings.Link<Swift.String> fields=next count=2 at=first|second|third
final class Link<Value> {
  let value: Value
  var tag: UInt8 = 7
  var next: Link<Value>?
  init(_ value: Value) { self.value = value }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeRing<Value>(_ value: Value) {
  let first = Link(value)  // @first
  let second = Link(value)  // @second
  let third = Link(value)  // @third
  first.next = second
  second.next = third
  third.next = first
  use(first)
}
for index in 0..<4 { makeRing(index) }
for index in 0..<2 { makeRing("a string that is too long for the small form, number \(index)") }
