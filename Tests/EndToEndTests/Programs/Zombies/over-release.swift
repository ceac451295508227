// One release too many.
// EXPECT zombie kind=release type=App.Session allocated=open freed=close used=closeAgain
// EXPECT crash
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
closeAgain(session)
print("not reached")
