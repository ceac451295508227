// Properties of a dead object whose accessors are coroutines that get their frame from the caller.
// FLAGS -enable-experimental-feature CoroutineAccessors
// EXPECT zombie kind=method type=App.Special member=text allocated=make freed=drop used=look
// EXPECT zombie kind=method type=App.Special member=text allocated=make freed=drop used=change
// EXPECT zombie in=debug kind=retain type=App.Special allocated=make freed=drop used=change
// EXPECT zombie in=release kind=field type=App.Special member=stored allocated=make freed=drop used=look
// EXPECT exit 0
// OPTIONS --zombie-policy report
class Model {
  final var stored = "text"
  var text: String {
    read { yield stored }
    modify { yield &stored }
  }
}

class Special: Model {
  override var text: String {
    read { yield stored }
    modify { yield &stored }
  }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Model> { Unmanaged.passRetained(Special() as Model) }
@inline(never) func drop(_ model: Unmanaged<Model>) {
  model.release()
  done()
}
@inline(never) @_optimize(none) func look(_ model: Unmanaged<Model>) {
  print(model._withUnsafeGuaranteedRef { $0.text.count })
  done()
}
@inline(never) @_optimize(none) func change(_ model: Unmanaged<Model>) {
  model._withUnsafeGuaranteedRef { $0.text += " and more" }
  done()
}

let model = make()
drop(model)
look(model)
change(model)
