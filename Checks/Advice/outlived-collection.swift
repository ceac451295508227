// An object in a collection of an object that lives longer.
// KEPT BY the collection
// ADVICE `screens` of App.Cache (reached from `App.cache`) still holds it: remove it from there
// FIX remove it
import Undead

final class Screen {}
final class Cache { var screens: [Screen] = [] }
let cache = Cache()
@inline(never) func start(_ scope: OwnerScope) {
  cache.screens.append(scope.adopt(Screen()))
  #if FIXED
    cache.screens.removeAll()
  #endif
}
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
