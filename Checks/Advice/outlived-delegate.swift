// A delegate of an object that lives longer.
// KEPT BY a strong reference of a delegate's name
// ADVICE `delegate` of App.Player still refers to it: declare it `weak`
// FIX `weak`
import Undead

protocol PlayerDelegate: AnyObject {}
final class Player {
  #if FIXED
    weak var delegate: PlayerDelegate?
  #else
    var delegate: PlayerDelegate?
  #endif
}
final class Screen: PlayerDelegate {}
let player = Player()
@inline(never) func start(_ scope: OwnerScope) { player.delegate = scope.adopt(Screen()) }
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
