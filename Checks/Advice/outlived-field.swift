// An object in a field of an object that lives longer.
// KEPT BY the field
// ADVICE set `screen` of App.Window to nil when the scope ends
// FIX set it to nil
import Undead

final class Screen {}
final class Window { var screen: Screen? }
let window = Window()
@inline(never) func start(_ scope: OwnerScope) {
  window.screen = scope.adopt(Screen())
  #if FIXED
    window.screen = nil
  #endif
}
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
