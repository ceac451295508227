// A repeating timer that was invalidated leaks its block all the same.
// EXPECT leak|known types=App.Refresher count=2
import Foundation

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
