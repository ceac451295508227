// A timer that was to end with a scope.
// KEPT BY the run loop, until it is invalidated
// ADVICE the run loop holds the timer until it is invalidated: call invalidate() when the scope ends
// FIX `invalidate()`
import Undead
import UndeadRunLoop

@inline(never) func start(_ scope: OwnerScope) throws {
  let timer = try TrackedTimer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in }
  scope.adopt(timer)
  #if FIXED
    timer.invalidate()
  #endif
}
let scope = OwnerScope("screen")
try start(scope)
scope.close(grace: .zero)
