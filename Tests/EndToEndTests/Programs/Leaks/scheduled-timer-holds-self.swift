// The timer of every tutorial: scheduled, repeating, its block captures the owner, which holds the timer.
// EXPECT suspect kind=heldByTimer types=App.Carousel count=3 closureAt=closure
import Foundation

final class Carousel {
  var page = 0
  var timer: Timer?
  init() {
    timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in self.page += 1 }  // @closure
  }
  deinit { timer?.invalidate() }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func show() { use(Carousel()) }
for _ in 0..<3 { show() }
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
