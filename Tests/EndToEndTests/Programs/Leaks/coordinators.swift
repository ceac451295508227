// Coordinators that hold their parents, three levels deep.
// EXPECT leak kind=retainCycle types=App.Coordinator count=2 fields=children,parent
class Coordinator {
  var parent: Coordinator?
  var children: [Coordinator] = []
  func start(_ child: Coordinator) {
    child.parent = self
    children.append(child)
  }
}
final class LoginCoordinator: Coordinator {
  var user = "none"
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func launch() {
  let root = Coordinator()
  let login = LoginCoordinator()
  root.start(login)
  login.start(Coordinator())
  use(root)
}
launch()
launch()
