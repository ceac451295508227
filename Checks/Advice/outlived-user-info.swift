// An object in the `userInfo` of a timer.
// KEPT BY the timer, and the run loop that keeps it
// ADVICE keeps its userInfo until it is invalidated: call invalidate() when the scope ends
// FIX `invalidate()`
import Undead
import UndeadRunLoop

final class Screen: Sendable {}
@inline(never) func start(_ scope: OwnerScope) throws {
  let timer = try TrackedTimer(after: .seconds(1000), repeats: true, userInfo: scope.adopt(Screen())) { _ in }
  try TrackedRunLoop.current.add(timer, forMode: .default)
  #if FIXED
    timer.invalidate()
  #endif
}
let scope = OwnerScope("screen")
try start(scope)
scope.close(grace: .zero)
