// A dispatch timer that was never resumed is known to nobody but its owner, which its handler captures.
// EXPECT leak|suspect types=App.Heartbeat count=3
import Dispatch

final class Heartbeat {
  var beats = 0
  let source = DispatchSource.makeTimerSource()
  func prepare() {
    source.setEventHandler { self.beats += 1 }
    source.schedule(deadline: .now() + 500, repeating: 500)
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func begin() {
  let heartbeat = Heartbeat()
  heartbeat.prepare()
  use(heartbeat)
}
for _ in 0..<3 { begin() }
