// A message to a freed object of a generic class, named with its arguments.
// EXPECT zombie in=debug kind=method type=App.Cache<Swift.String,*Swift.Int> member=count allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|field type=App.Cache<Swift.String,*Swift.Int> allocated=make freed=drop used=ask
// EXPECT crash
class Cache<Key: Hashable, Value> {
  var values: [Key: Value] = [:]
  func count() -> Int { values.count }
}

class Bounded<Value>: Cache<String, Value> {
  override func count() -> Int { 1 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Cache<String, Int>> { Unmanaged.passRetained(Cache()) }
@inline(never) func drop(_ cache: Unmanaged<Cache<String, Int>>) {
  cache.release()
  done()
}
@inline(never) @_optimize(none) func ask(_ cache: Unmanaged<Cache<String, Int>>) {
  print(cache._withUnsafeGuaranteedRef { $0.count() })
}

let cache = make()
drop(cache)
ask(cache)
