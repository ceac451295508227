// The owner of a Foundation timer's block, which was to end with a scope.
// KEPT BY the timer, and the run loop that keeps it
// ADVICE a timer holds it: capture `self` weakly in its block, and call invalidate()
// FIX `[weak self]` in the block, and `invalidate()`
import Foundation
import Undead

final class Screen {
  private var seconds = 0
  #if FIXED
    private var timer: Timer?
    deinit { timer?.invalidate() }
  #endif
  func start() {
    #if FIXED
      timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { [weak self] _ in self?.seconds += 1 }
    #else
      Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in self.seconds += 1 }
    #endif
  }
}
@inline(never) func start(_ scope: OwnerScope) { scope.adopt(Screen()).start() }
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
