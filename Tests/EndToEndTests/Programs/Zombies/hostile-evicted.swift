// The quarantine holds few objects: the dead one is long out of it, and its memory was given to others.
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
for _ in 0..<1000 { close(open()) }
closeAgain(session)
closeAgain(session)
closeAgain(session)
fatalError("the memory belongs to nobody: plain releases of it do nothing")
