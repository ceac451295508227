// The tutorial leak: a closure in a property captures self.
// EXPECT leak kind=retainCycle types=App.ViewModel fields=onChange count=5 at=model closure=bind closureAt=closure also=App.Cache
final class Cache {
  var entries = [1, 2, 3]
}
final class ViewModel {
  var title = "start"
  let cache = Cache()
  var onChange: ((String) -> Void)?

  func bind() {
    onChange = { text in self.title = text }  // @closure
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeModel() {
  let model = ViewModel()  // @model
  model.bind()
  model.onChange?("changed")
  use(model)
}
for _ in 0..<5 { makeModel() }
