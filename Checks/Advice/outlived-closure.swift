// The owner of a closure that a live object keeps.
// KEPT BY the closure
// ADVICE the closure stored in `onChange` of App.Store captures `self` strongly: capture it weakly (`[weak self]`), or set
// FIX `[weak self]`
import Undead

final class Store { var onChange: (() -> Void)? }
let store = Store()
final class Screen {
  private var changes = 0
  func start() {
    #if FIXED
      store.onChange = { [weak self] in self?.changes += 1 }
    #else
      store.onChange = { self.changes += 1 }
    #endif
  }
}
@inline(never) func start(_ scope: OwnerScope) { scope.adopt(Screen()).start() }
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
