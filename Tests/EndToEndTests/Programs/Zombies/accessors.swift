// The accessors of a property of a dead object of an open hierarchy.
// EXPECT zombie in=debug kind=method type=App.Special member=level allocated=make freed=drop used=access
// EXPECT zombie in=release kind=method|field type=App.Special member=level allocated=make freed=drop used=access
// EXPECT crash
// CASE accessor-getter
// CASE accessor-setter
// FLAGS -D SETTER
// CASE accessor-modify
// FLAGS -D MODIFY
class Model {
  var level = 1
}

class Special: Model {
  override var level: Int {
    get { super.level + 1 }
    set { super.level = newValue }
  }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Model> { Unmanaged.passRetained(Special() as Model) }
@inline(never) func drop(_ model: Unmanaged<Model>) {
  model.release()
  done()
}
@inline(never) @_optimize(none) func access(_ model: Unmanaged<Model>) {
  #if SETTER
    model._withUnsafeGuaranteedRef { $0.level = 9 }
  #elseif MODIFY
    model._withUnsafeGuaranteedRef { $0.level += 1 }
  #else
    print(model._withUnsafeGuaranteedRef { $0.level })
  #endif
  done()
}

let model = make()
drop(model)
access(model)
print("not reached")
