// The owner of a timer's block, which was to end with a scope.
// KEPT BY the block of the timer, and the run loop that keeps it
// ADVICE the block of the timer captures `self` strongly: capture it weakly (`[weak self]`), and call invalidate()
// FIX `[weak self]`
import Undead
import UndeadRunLoop

final class Screen: @unchecked Sendable {
  private var seconds = 0
  func start() throws {
    #if FIXED
      try TrackedTimer.scheduledTimer(withTimeInterval: 1000, repeats: true) { [weak self] _ in self?.seconds += 1 }
    #else
      try TrackedTimer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in self.seconds += 1 }
    #endif
  }
}
@inline(never) func start(_ scope: OwnerScope) throws { try scope.adopt(Screen()).start() }
let scope = OwnerScope("screen")
try start(scope)
scope.close(grace: .zero)
