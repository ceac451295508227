// The same place uses a dead object many times, and the program goes on: one group, counted.
// OPTIONS --zombie-policy report
// EXPECT zombie kind=release type=App.Session count=5 allocated=open freed=close used=closeAgain
final class Session {
  var number = 7
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func open() -> Unmanaged<Session> { Unmanaged.passRetained(Session()) }
@inline(never) func close(_ session: Unmanaged<Session>) {
  session.release()
  done()
}
@inline(never) func closeAgain(_ session: Unmanaged<Session>) {
  session.release()
  done()
}

let session = open()
close(session)
for _ in 0..<5 { closeAgain(session) }
print("went on")
