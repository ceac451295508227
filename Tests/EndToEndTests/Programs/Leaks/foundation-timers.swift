// Timers of Foundation.
import Foundation

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// The timer of every tutorial: scheduled, repeating, its block captures the owner, which holds the timer.
// EXPECT suspect kind=heldByTimer types=App.Carousel count=3 closureAt=closure
final class Carousel {
  var page = 0
  var timer: Timer?
  init() {
    timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in self.page += 1 }  // @closure
  }
  deinit { timer?.invalidate() }
}
@inline(never) func show() { use(Carousel()) }
for _ in 0..<3 { show() }

// Foundation's own bug: a timer that fired, and all that its block captures, is never freed.
// EXPECT leak|known types=App.Clock count=3
final class Clock {
  var ticks = 0
}
@inline(never) func schedule() {
  let clock = Clock()
  _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in clock.ticks += 1 }
}
for _ in 0..<3 { schedule() }

// A repeating timer that was invalidated leaks its block all the same.
// EXPECT leak|known types=App.Refresher count=2
final class Refresher {
  var refreshes = 0
  var timer: Timer?
  func start() {
    timer = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: true) { _ in self.refreshes += 1 }
  }
  func stop() {
    timer?.invalidate()
    timer = nil
  }
}
@inline(never) func run() {
  let refresher = Refresher()
  refresher.start()
  RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1))
  refresher.stop()
}
run()
run()
