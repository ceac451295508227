// The target of a timer that was to end with a scope.
// KEPT BY the timer, and the run loop that keeps it
// ADVICE holds its target strongly until it is invalidated: call invalidate() when the owner goes away
// FIX `holding: .weak`
import Undead
import UndeadRunLoop

final class Screen: Sendable {
  func start() throws {
    #if FIXED
      try TrackedTimer.scheduledTimer(timeInterval: 1000, target: self, holding: .weak, repeats: true) { _, _ in }
    #else
      try TrackedTimer.scheduledTimer(timeInterval: 1000, target: self, repeats: true) { _, _ in }
    #endif
  }
}
@inline(never) func start(_ scope: OwnerScope) throws { try scope.adopt(Screen()).start() }
let scope = OwnerScope("screen")
try start(scope)
scope.close(grace: .zero)
