// The storage of an array in a dead object is followed.
// EXPECT zombie kind=field type=App.Owner member=items allocated=make freed=drop used=show
// EXPECT crash
final class Owner {
  var items: [Int] = [1, 2, 3]
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> Unmanaged<Owner> { Unmanaged.passRetained(Owner()) }
@inline(never) func drop(_ owner: Unmanaged<Owner>) {
  owner.release()
  done()
}
@inline(never) func show(_ owner: Unmanaged<Owner>) -> Int {
  owner._withUnsafeGuaranteedRef { $0.items.count }
}

let owner = make()
drop(owner)
print(show(owner))
