// A running dispatch timer whose handler captures the owner; one that fires all the time is in a queue, or was just called, when
// the program ends.
// EXPECT suspect kind=heldByDispatchSource types=App.Heartbeat count=3 closureAt=closure
// CASE dispatch-timer-running
// CASE dispatch-timer-firing-fast
// FLAGS -D FAST
import Dispatch
import Glibc

final class Heartbeat {
  var beats = 0
  let source = DispatchSource.makeTimerSource()
  func start() {
    source.setEventHandler { self.beats += 1 }  // @closure
    #if FAST
      source.schedule(deadline: .now(), repeating: .microseconds(200))
    #else
      source.schedule(deadline: .now() + 500, repeating: 500)
    #endif
    source.resume()
  }
  deinit { source.cancel() }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func begin() {
  let heartbeat = Heartbeat()
  heartbeat.start()
  use(heartbeat)
}
for _ in 0..<3 { begin() }
usleep(300_000)
