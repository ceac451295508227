// A signal comes while main waits, and its handler calls exit(): what main left on the stack lies beyond the signal's frame.
// EXPECT leak kind=retainCycle types=App.Server fields=onStop count=1
// EXPECT leak kind=retainCycle types=App.Session fields=peer count=3
import Glibc

final class Server {
  var onStop: (() -> Void)?
  var stopped = 0
  func start() { onStop = { self.stopped += 1 } }
}
final class Session {
  var peer: Session?
  let id: Int
  init(_ id: Int) { self.id = id }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func leak() {
  let server = Server()
  server.start()
  use(server)
  for id in 0..<3 {
    let session = Session(id)
    let other = Session(id)
    session.peer = other
    other.peer = session
    use(session)
  }
}

signal(SIGALRM) { _ in
  print("stopping")
  exit(0)
}
leak()
ualarm(400_000, 0)
while true { sleep(1) }
