// One release too many; the same, often, in a program that goes on: one group, counted; and of an object that is long out of a
// small quarantine, whose memory was given to others.
// CASE over-release
// EXPECT zombie kind=release type=App.Session allocated=open freed=close used=closeAgain
// EXPECT crash
// CASE hostile-twice
// FLAGS -D TWICE
// OPTIONS --zombie-policy report
// EXPECT zombie kind=release type=App.Session count=5 allocated=open freed=close used=closeAgain
// CASE hostile-evicted
// FLAGS -D EVICTED
// OPTIONS --zombie-count 100
// EXPECT any
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
#if TWICE
  for _ in 0..<5 { closeAgain(session) }
  print("went on")
#elseif EVICTED
  for _ in 0..<1000 { close(open()) }
  closeAgain(session)
  closeAgain(session)
  closeAgain(session)
  fatalError("the memory belongs to nobody: plain releases of it do nothing")
#else
  closeAgain(session)
  print("not reached")
#endif
