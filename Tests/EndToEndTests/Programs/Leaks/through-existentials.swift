// Cycles through existentials.
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// `Any` and `[String: Any]` hide the reference from the eye.
// EXPECT leak kind=retainCycle types=App.Context fields=value count=2 at=context
// EXPECT leak kind=retainCycle types=App.Bag,App.Entry fields=userInfo,bag count=2 at=bag|entry
final class Context {
  var value: Any = 0
}
final class Entry {
  var bag: Bag?
}
final class Bag {
  var userInfo: [String: Any] = [:]
}

@inline(never) func makeContext() {
  let context = Context()  // @context
  context.value = context
  use(context)
}
@inline(never) func makeBag() {
  let bag = Bag()  // @bag
  let entry = Entry()  // @entry
  entry.bag = bag
  bag.userInfo["entry"] = entry
  bag.userInfo["number"] = 1
  use(bag)
}
for _ in 0..<2 { makeContext() }
for _ in 0..<2 { makeBag() }

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

// A protocol with an associated type, boxed as `any`, in a generic container.
// EXPECT leak kind=retainCycle types=App.Hub,App.NumberSource fields=sources,hub count=3 at=hub|source
protocol Source<Element> {
  associatedtype Element
  func next() -> Element
}
final class NumberSource: Source {
  let hub: Hub
  init(hub: Hub) { self.hub = hub }
  func next() -> Int { 4 }
}
final class Hub {
  var sources: [any Source<Int>] = []
}

@inline(never) func makeHub() {
  let hub = Hub()  // @hub
  hub.sources.append(NumberSource(hub: hub))  // @source
  use(hub)
}
for _ in 0..<3 { makeHub() }

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

@inline(never) func make() {
  let presenter = Presenter()  // @presenter
  presenter.view = DetailView(presenter)  // @view
  use(presenter)
}
for _ in 0..<3 { make() }
