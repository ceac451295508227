// An object in a variable of a call that has not returned.
// KEPT BY the variable
// ADVICE a local variable or argument of a call that has not returned
// FIX let the call end
import Foundation
import Undead

final class Screen {}
@inline(never) @_optimize(none) func use(_ screen: Screen) {}
@inline(never) func start(_ scope: OwnerScope) -> Screen { scope.adopt(Screen()) }
let scope = OwnerScope("screen")
let (ready, never) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
Thread.detachNewThread {
  let screen = start(scope)
  #if !FIXED
    ready.signal()
    never.wait()
  #endif
  use(screen)
  ready.signal()
}
ready.wait()
scope.close(grace: .zero)
