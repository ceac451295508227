// An `unowned` reference that is used after its object was deallocated.
// KEPT BY nothing
// ADVICE the object was deallocated before the one that holds it `unowned`: make the reference `weak`
// FIX `weak`
// OPTIONS --zombies
final class Player { var volume = 7 }
final class Track {
  #if FIXED
    private weak var player: Player?
    init(_ player: Player) { self.player = player }
    func volume() -> Int { player?.volume ?? 0 }
  #else
    private unowned let player: Player
    init(_ player: Player) { self.player = player }
    func volume() -> Int { player.volume }
  #endif
}
@inline(never) func make() -> Track { Track(Player()) }
print(make().volume())
