// A dead object is cast to its subclass.
// EXPECT zombie in=debug kind=cast|retain|field type=App.Derived allocated=make freed=drop used=examine
// EXPECT zombie in=release kind=cast|retain|field type=App.Derived allocated=make freed=drop used=examine
// EXPECT crash
class Base {
  var first = 1
}

class Derived: Base {
  var second = 2
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Base> { Unmanaged.passRetained(Derived() as Base) }
@inline(never) func drop(_ base: Unmanaged<Base>) {
  base.release()
  done()
}
@inline(never) @_optimize(none) func examine(_ base: Unmanaged<Base>) -> Bool {
  base._withUnsafeGuaranteedRef { ($0 as? Derived) != nil }
}

let base = make()
drop(base)
print(examine(base))
