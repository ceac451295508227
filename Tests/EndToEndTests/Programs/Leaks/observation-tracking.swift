// The change handler of an observed model stays registered until the model changes, and captures the model's owner.
// EXPECT leak kind=retainCycle types=App.View fields=model count=2
import Observation

@Observable final class Model {
  var value = 0
}
final class View {
  let model = Model()
  var renders = 0
  func render() {
    withObservationTracking {
      renders += model.value
    } onChange: {
      self.renders += 1
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func show() {
  let view = View()
  view.render()
  use(view)
}
for _ in 0..<2 { show() }
