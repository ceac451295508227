// A dead object is retained and nothing else: no load of a field, no call. If the program goes on and releases it again, that is
// no other finding.
// CASE retain-only
// EXPECT zombie kind=retain type=App.Session allocated=open freed=close used=adopt
// EXPECT crash
// CASE hostile-zombie-of-zombie
// FLAGS -D GOES_ON
// OPTIONS --zombie-policy report
// EXPECT zombie kind=retain type=App.Session allocated=open freed=close|bury used=adopt
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
#if GOES_ON
  @inline(never) func bury(_ session: Unmanaged<Session>) {
    session.release()
    done()
  }
#endif

let session = open()
close(session)
adopt(session)
#if GOES_ON
  bury(session)
#endif
print("the end")
