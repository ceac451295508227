// Bindings keyed by key path, whose closures capture the model.
// EXPECT leak kind=retainCycle types=App.Model fields=bindings count=2 at=model
final class Model {
  var name = ""
  var age = 0
  var bindings: [PartialKeyPath<Model>: () -> Void] = [:]

  func bind<Value>(_ path: ReferenceWritableKeyPath<Model, Value>, to value: Value) {
    bindings[path] = { self[keyPath: path] = value }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeModel() {
  let model = Model()  // @model
  model.bind(\.name, to: "a name that is long enough for the heap")
  model.bind(\.age, to: 3)
  for binding in model.bindings.values { binding() }
  use(model)
}
makeModel()
makeModel()
