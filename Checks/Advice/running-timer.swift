// A timer in a weak variable, with a block that captures its owner.
// KEPT BY the run loop, which keeps the timer
// ADVICE the run loop keeps the timer, and the timer the object that has it in `timer`
// FIX `[weak self]` in the block, and `invalidate()` in `deinit`
import Foundation

final class Carousel {
  private weak var timer: Timer?
  private var page = 0
  func start() {
    #if FIXED
      timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { [weak self] _ in self?.page += 1 }
    #else
      timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in self.page += 1 }
    #endif
  }
  deinit { timer?.invalidate() }
}
@inline(never) func run() { Carousel().start() }
run()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
