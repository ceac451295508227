// The Observable macro puts the storage behind an underscore and a registrar beside it.
// EXPECT leak kind=retainCycle types=App.Model,App.Child fields=child,model count=3 at=model|child
import Observation

final class Child {
  var model: Model?
}
@Observable final class Model {
  var name = "model"
  var child: Child?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let model = Model()  // @model
  let child = Child()  // @child
  model.child = child
  child.model = model
  use(model)
}
for _ in 0..<3 { make() }
