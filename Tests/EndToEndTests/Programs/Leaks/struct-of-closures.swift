// Dependency injection by a struct of closures.
// MODULE Weather
// EXPECT leak kind=retainCycle types=Weather.Client fields=environment~reload count=3 at=client
struct Environment {
  var date: () -> Int = { 0 }
  var reload: () -> Void = {}
}
final class Client {
  var environment = Environment()
  var loads = 0
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeClient() {
  let client = Client()  // @client
  client.environment.reload = { client.loads += 1 }
  client.environment.reload()
  use(client)
}
for _ in 0..<3 { makeClient() }
