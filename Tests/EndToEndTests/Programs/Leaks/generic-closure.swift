// A closure in a generic context: metadata words come first in its context.
// EXPECT leak kind=retainCycle types=App.Store<Swift.Int> fields=reduce count=2 at=store
// EXPECT leak kind=retainCycle types=App.Store<Swift.String> fields=reduce count=3 at=store
final class Store<Value> {
  var value: Value
  var reduce: ((Value) -> Void)?
  init(_ value: Value) { self.value = value }

  func connect<Other>(_ other: Other) {
    reduce = { new in
      self.value = new
      withExtendedLifetime(other) {}
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeStore<Value>(_ value: Value) {
  let store = Store(value)  // @store
  store.connect([1.5, 2.5])
  store.reduce?(value)
  use(store)
}
for index in 0..<2 { makeStore(index) }
for index in 0..<3 { makeStore("value \(index)") }
