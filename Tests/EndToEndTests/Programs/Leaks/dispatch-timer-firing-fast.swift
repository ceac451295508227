// Timers that fire all the time: when the program ends, some are in queues or were just called.
// EXPECT suspect kind=heldByDispatchSource types=App.Heartbeat count=3 closureAt=closure
import Dispatch
import Glibc

final class Heartbeat {
  var beats = 0
  let source = DispatchSource.makeTimerSource()
  func start() {
    source.setEventHandler { self.beats += 1 }  // @closure
    source.schedule(deadline: .now(), repeating: .microseconds(200))
    source.resume()
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func begin() {
  let heartbeat = Heartbeat()
  heartbeat.start()
  use(heartbeat)
}
for _ in 0..<3 { begin() }
usleep(300_000)
