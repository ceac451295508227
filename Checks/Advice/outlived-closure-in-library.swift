// The owner of a closure that an object of a library keeps.
// KEPT BY the closure
// ADVICE captures `self` strongly: capture it weakly (`[weak self]`), or end what it was given to when the scope ends
// FIX `[weak self]`
import NIOEmbedded
import Undead

let loop = EmbeddedEventLoop()
final class Screen {
  private var changes = 0
  func start() {
    #if FIXED
      loop.schedule { [weak self] in self?.changes += 1 }
    #else
      loop.schedule { self.changes += 1 }
    #endif
  }
}
@inline(never) func start(_ scope: OwnerScope) { scope.adopt(Screen()).start() }
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
