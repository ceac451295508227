// A dead object is retained, stored, and released again; the program goes on.
// OPTIONS --zombie-policy report
// EXPECT zombie kind=retain type=App.Session allocated=open freed=close|bury used=revive
final class Session {
  var number = 7
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func open() -> Unmanaged<Session> { Unmanaged.passRetained(Session()) }
@inline(never) func close(_ session: Unmanaged<Session>) {
  session.release()
  done()
}
@inline(never) func revive(_ session: Unmanaged<Session>) {
  _ = session.retain()
  done()
}
@inline(never) func bury(_ session: Unmanaged<Session>) {
  session.release()
  done()
}

let session = open()
close(session)
revive(session)
bury(session)
print("went on")
