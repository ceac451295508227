// A struct with a reference inside an opaque existential, inline and boxed.
// EXPECT leak kind=retainCycle types=App.Router,App.Target fields=small,router count=2 at=router|target
// EXPECT leak kind=retainCycle types=App.Router,App.Target fields=large,router count=3 at=router|target
protocol Route {
  func open()
}
final class Target {
  var router: Router?
}
struct SmallRoute: Route {
  var target: Target
  func open() {}
}
struct LargeRoute: Route {
  var first = 1
  var second = 2.0
  var title = "route"
  var target: Target
  func open() {}
}
final class Router {
  var small: (any Route)?
  var large: (any Route)?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeSmall() {
  let router = Router()  // @router
  let target = Target()  // @target
  target.router = router
  router.small = SmallRoute(target: target)
  use(router)
}
@inline(never) func makeLarge() {
  let router = Router()  // @router
  let target = Target()  // @target
  target.router = router
  router.large = LargeRoute(target: target)
  use(router)
}
for _ in 0..<2 { makeSmall() }
for _ in 0..<3 { makeLarge() }
