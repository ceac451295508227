// The field that keeps the cycle alive is declared in the superclass, generic at that.
// EXPECT leak kind=retainCycle types=App.DetailController,App.DetailPresenter fields=presenter,controller count=5 at=controller|presenter
class Controller<Presenter: AnyObject> {
  var appeared = 0
  var presenter: Presenter?
}
class BaseController<Presenter: AnyObject>: Controller<Presenter> {
  var title = "base"
}
final class DetailController: BaseController<DetailPresenter> {
  var selection = 4
}
final class DetailPresenter {
  var controller: Controller<DetailPresenter>?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func show() {
  let controller = DetailController()  // @controller
  let presenter = DetailPresenter()  // @presenter
  controller.presenter = presenter
  presenter.controller = controller
  use(controller)
}
for _ in 0..<5 { show() }
