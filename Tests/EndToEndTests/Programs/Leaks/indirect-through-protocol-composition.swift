// A class-constrained composition and a superclass existential.
// EXPECT leak kind=retainCycle types=App.Presenter,App.DetailView fields=view,presenter count=3 at=view|presenter
protocol Displayable: AnyObject {
  func display()
}
class View {
  var frame = (0.0, 0.0, 1.0, 1.0)
}
final class Presenter {
  var view: (View & Displayable)?
}
final class DetailView: View, Displayable {
  let presenter: Presenter
  init(_ presenter: Presenter) { self.presenter = presenter }
  func display() {}
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let presenter = Presenter()  // @presenter
  presenter.view = DetailView(presenter)  // @view
  use(presenter)
}
for _ in 0..<3 { make() }
