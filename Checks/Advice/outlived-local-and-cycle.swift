// An object in a variable of a call that has not returned, which is in a retain cycle, too.
// KEPT BY the variable, and after that the cycle
// ADVICE a retain cycle keeps it:
// FIX let the call end, and `weak`
import Foundation
import Undead

final class Screen {
  var header: Header?
}
final class Header {
  #if FIXED
    weak var parent: Screen?
  #else
    var parent: Screen?
  #endif
}
@inline(never) @_optimize(none) func use(_ screen: Screen) {}
@inline(never) func start(_ scope: OwnerScope) -> Screen {
  let screen = Screen()
  let header = Header()
  header.parent = screen
  screen.header = header
  return scope.adopt(screen)
}
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
