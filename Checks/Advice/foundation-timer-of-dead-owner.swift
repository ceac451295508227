// A timer of Foundation whose block captures `self` weakly, and that is not invalidated.
// KEPT BY the run loop
// ADVICE the object that the timer fires for is gone, and did not stop it: invalidate `timer` of App.Clock in its deinit
// FIX a deinit that invalidates the timer
import Foundation

final class Clock: @unchecked Sendable {
  private var timer: Timer?
  private var seconds = 0
  func start() {
    timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { [weak self] _ in self?.seconds += 1 }
  }
  #if FIXED
    deinit { timer?.invalidate() }
  #endif
}
@inline(never) func run() { Clock().start() }
run()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1))
