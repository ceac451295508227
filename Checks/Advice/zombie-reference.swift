// A reference that does not retain its object.
// KEPT BY nothing
// ADVICE the reference does not keep the object in memory
// FIX a strong or `weak` reference
// OPTIONS --zombies
class Player { func play() {} }
final class Remote {
  #if FIXED
    private let player: Player
  #else
    private unowned(unsafe) let player: Player
  #endif
  init(_ player: Player) { self.player = player }
  func press() { player.play() }
}
@inline(never) func make() -> Remote { Remote(Player()) }
make().press()
