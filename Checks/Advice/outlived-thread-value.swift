// An object in a value of a thread.
// KEPT BY the thread
// ADVICE a thread-local value
// FIX remove it
import Foundation
import Undead

final class Screen {}
@inline(never) func start(_ scope: OwnerScope) {
  var key = pthread_key_t()
  pthread_key_create(&key, nil)
  let screen = Unmanaged.passRetained(scope.adopt(Screen()))
  pthread_setspecific(key, screen.toOpaque())
  #if FIXED
    pthread_setspecific(key, nil)
    screen.release()
  #endif
}
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
