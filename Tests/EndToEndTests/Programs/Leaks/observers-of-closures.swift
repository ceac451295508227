// An observable that stores closures in an array; the observer holds the observable.
// EXPECT leak kind=retainCycle types=App.Observable,App.Observer fields=handlers,observable count=3 at=observable|observer
final class Observable {
  var handlers: [(Int) -> Void] = []
  func subscribe(_ handler: @escaping (Int) -> Void) { handlers.append(handler) }
}
final class Observer {
  let observable: Observable
  var total = 0
  init(_ observable: Observable) {
    self.observable = observable
    observable.subscribe { value in self.total += value }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let observable = Observable()  // @observable
  let observer = Observer(observable)  // @observer
  observable.handlers[0](4)
  use(observer)
}
for _ in 0..<3 { make() }
