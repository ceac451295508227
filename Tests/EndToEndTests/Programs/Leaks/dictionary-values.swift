// Sessions held in the values of a dictionary that hold the registry.
// EXPECT leak kind=retainCycle types=App.Registry,App.Session fields=sessions,registry count=3 at=registry|session
final class Registry {
  var sessions: [String: Session] = [:]
}
final class Session {
  let registry: Registry
  init(registry: Registry) { self.registry = registry }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeRegistry() {
  let registry = Registry()  // @registry
  for name in ["anna", "bert", "cleo"] {
    registry.sessions[name] = Session(registry: registry)  // @session
  }
  use(registry)
}
for _ in 0..<3 { makeRegistry() }
