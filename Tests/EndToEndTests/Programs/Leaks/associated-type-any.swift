// A protocol with an associated type, boxed as `any`, in a generic container.
// MODULE Feed
// EXPECT leak kind=retainCycle types=Feed.Hub,Feed.NumberSource fields=sources,hub count=3 at=hub|source
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
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeHub() {
  let hub = Hub()  // @hub
  hub.sources.append(NumberSource(hub: hub))  // @source
  use(hub)
}
for _ in 0..<3 { makeHub() }
