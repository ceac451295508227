// Owners of running timers whose addresses a waiting function of a task, and one of a thread, keep as numbers.
// EXPECT suspect kind=heldByDispatchSource types=App.Heartbeat count=2 closureAt=closure
import Dispatch
import Glibc

final class Heartbeat: @unchecked Sendable {
  var beats = 0
  let source = DispatchSource.makeTimerSource()
  func start() {
    source.setEventHandler { self.beats += 1 }  // @closure
    source.schedule(deadline: .now() + 500, repeating: 500)
    source.resume()
  }
  deinit { source.cancel() }
}
@inline(never) @_optimize(none) func use(_ number: UInt) {}
@inline(never) func begin() -> UInt {
  let heartbeat = Heartbeat()
  heartbeat.start()
  return UInt(bitPattern: Unmanaged.passUnretained(heartbeat).toOpaque())
}
@inline(never) @_optimize(none) func waitInATask() async {
  let number = begin()
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  use(number)
}
@inline(never) @_optimize(none) func waitInAThread() {
  let number = begin()
  while true { pause() }
  use(number)
}
let task = Task { await waitInATask() }
var thread = pthread_t()
pthread_create(
  &thread, nil,
  { _ in
    waitInAThread()
    return nil
  }, nil)
usleep(300_000)
