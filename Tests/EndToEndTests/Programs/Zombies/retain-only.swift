// A dead object is retained and nothing else: no load of a field, no call.
// EXPECT zombie kind=retain type=App.Session allocated=open freed=close used=adopt
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
@inline(never) func adopt(_ session: Unmanaged<Session>) {
  _ = session.retain()
  done()
}

let session = open()
close(session)
adopt(session)
print("the end")
