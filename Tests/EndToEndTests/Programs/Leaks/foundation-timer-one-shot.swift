// Foundation's own bug: a timer that fired, and all that its block captures, is never freed.
// EXPECT leak|known types=App.Clock count=3
import Foundation

final class Clock {
  var ticks = 0
}
@inline(never) func schedule() {
  let clock = Clock()  // @clock
  _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in clock.ticks += 1 }
}
for _ in 0..<3 { schedule() }
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.3))
