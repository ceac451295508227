// Two cycles share an object: one connected component, one leak.
// EXPECT leak kind=retainCycle types=App.Hub count=2 at=hub|spoke
final class Hub {
  var left: Spoke?
  var right: Spoke?
}
final class Spoke {
  let hub: Hub
  init(_ hub: Hub) { self.hub = hub }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let hub = Hub()  // @hub
  hub.left = Spoke(hub)  // @spoke
  hub.right = Spoke(hub)  // @spoke
  use(hub)
}
make()
make()
