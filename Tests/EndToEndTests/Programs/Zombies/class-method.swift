// A class method through the type of a dead object.
// EXPECT zombie in=debug kind=method type=App.Base|App.Derived member=limit() allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|field|cast|retain type=App.Base|App.Derived allocated=make freed=drop used=ask
// EXPECT crash
class Base {
  class func limit() -> Int { 5 }
}

class Derived: Base {
  override class func limit() -> Int { 6 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Base> { Unmanaged.passRetained(Derived() as Base) }
@inline(never) func drop(_ base: Unmanaged<Base>) {
  base.release()
  done()
}
@inline(never) @_optimize(none) func ask(_ base: Unmanaged<Base>) -> Int {
  base._withUnsafeGuaranteedRef { type(of: $0).limit() }
}

let base = make()
drop(base)
print(ask(base))
