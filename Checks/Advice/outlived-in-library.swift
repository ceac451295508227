// An object that was given to an object of a library.
// KEPT BY the library's object
// ADVICE holds it: most likely the call that ends it is missing
// FIX the call that ends it
import Pool
import Undead

final class Screen: ClientDelegate {}
let client = Client()
@inline(never) func start(_ scope: OwnerScope) {
  client.attach(scope.adopt(Screen()))
  #if FIXED
    client.close()
  #endif
}
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
