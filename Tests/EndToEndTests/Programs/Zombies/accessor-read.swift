// A property of a dead object that is implemented by a `_read` coroutine.
// EXPECT zombie in=debug kind=method type=App.Special member=text allocated=make freed=drop used=access
// EXPECT zombie in=release kind=method|field type=App.Special allocated=make freed=drop used=access
// EXPECT crash
class Model {
  var stored = "text"
  var text: String {
    _read { yield stored }
    _modify { yield &stored }
  }
}

class Special: Model {
  override var text: String {
    _read { yield stored }
    _modify { yield &stored }
  }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Model> { Unmanaged.passRetained(Special() as Model) }
@inline(never) func drop(_ model: Unmanaged<Model>) {
  model.release()
  done()
}
@inline(never) @_optimize(none) func access(_ model: Unmanaged<Model>) {
  print(model._withUnsafeGuaranteedRef { $0.text.count })
  done()
}

let model = make()
drop(model)
access(model)
