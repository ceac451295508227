// The smallest cycle: an object that holds itself.
// EXPECT leak kind=retainCycle types=App.Singleton fields=me count=12 at=object
final class Singleton {
  var me: Singleton?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let object = Singleton()  // @object
  object.me = object
  use(object)
}
for _ in 0..<12 { make() }
