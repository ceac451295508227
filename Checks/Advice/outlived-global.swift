// An object in a global variable.
// KEPT BY the variable
// ADVICE the global or static variable `App.current` still refers to it
// FIX set it to nil
import Undead

final class Screen {}
var current: Screen?
@inline(never) func start(_ scope: OwnerScope) {
  current = scope.adopt(Screen())
  #if FIXED
    current = nil
  #endif
}
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
