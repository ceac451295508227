// A call of an actor that is gone.
// EXPECT zombie kind=method|retain|field type=App.Store allocated=make freed=drop
// EXPECT crash
actor Store {
  var items: [Int] = [1]
  func add(_ item: Int) -> Int {
    items.append(item)
    return items.count
  }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> Unmanaged<Store> { Unmanaged.passRetained(Store()) }
@inline(never) func drop(_ store: Unmanaged<Store>) {
  store.release()
  done()
}
@inline(never) func ask(_ store: Unmanaged<Store>) async {
  let dead = unsafeBitCast(store.toOpaque(), to: Store.self)
  print(await dead.add(2))
}

let store = make()
drop(store)
await ask(store)
