// An object that was given to an object of Foundation.
// KEPT BY Foundation's object
// ADVICE holds it: undo what gave it the object when the scope ends
// FIX take it out again
import Foundation
import Undead

final class Screen {}
let screens = NSMutableArray()
@inline(never) func start(_ scope: OwnerScope) {
  screens.add(scope.adopt(Screen()))
  #if FIXED
    screens.removeAllObjects()
  #endif
}
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
