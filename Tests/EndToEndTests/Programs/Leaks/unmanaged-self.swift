// An object keeps itself alive through an Unmanaged property.
// EXPECT leak kind=retainCycle|unreferenced types=App.Connection count=5 at=connection
final class Connection {
  var handle: Unmanaged<Connection>?
  func open() { handle = Unmanaged.passRetained(self) }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func connect() {
  let connection = Connection()  // @connection
  connection.open()
  use(connection)
}
for _ in 0..<5 { connect() }
