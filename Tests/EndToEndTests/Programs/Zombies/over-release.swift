// One release too many; the same, often, in a program that goes on: one group, counted; and of an object that is long out of a
// small quarantine, whose memory was given to others. Or a dead object is retained and nothing else: no load of a field, no call. If the
// program goes on and releases it again, that is no other finding.
// CASE over-release
// ARGS once
// EXPECT zombie kind=release type=App.Session allocated=open freed=close used=closeAgain
// EXPECT crash
// CASE hostile-twice
// ARGS twice
// OPTIONS --zombie-policy report
// EXPECT zombie kind=release type=App.Session count=5 allocated=open freed=close used=closeAgain
// CASE hostile-evicted
// ARGS evicted
// OPTIONS --zombie-count 100
// EXPECT any
// EXPECT crash
// CASE retain-only
// ARGS retained
// EXPECT zombie kind=retain type=App.Session allocated=open freed=close used=adopt
// EXPECT crash
// CASE hostile-zombie-of-zombie
// ARGS buried
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
@inline(never) func closeAgain(_ session: Unmanaged<Session>) {
  session.release()
  done()
}
@inline(never) func adopt(_ session: Unmanaged<Session>) {
  _ = session.retain()
  done()
}
@inline(never) func bury(_ session: Unmanaged<Session>) {
  session.release()
  done()
}

let session = open()
close(session)
switch CommandLine.arguments[1] {
case "twice": for _ in 0..<5 { closeAgain(session) }
case "evicted":
  for _ in 0..<1000 { close(open()) }
  for _ in 0..<3 { closeAgain(session) }
  fatalError("the memory belongs to nobody: plain releases of it do nothing")
case "retained": adopt(session)
case "buried":
  adopt(session)
  bury(session)
default: closeAgain(session)
}
print("the end")
