// A reference in a case of an enum, to an object that refers back.
// KEPT BY the enum's case
// ADVICE make `App.Track.player` `weak` or `unowned` if it does not own its object, or give `state` of App.Player another value
// FIX another case when the object is done
enum State {
  case idle
  case playing(Track, volume: Int)
}
final class Track {
  private let player: Player
  init(_ player: Player) { self.player = player }
}
final class Player {
  private var state = State.idle
  func start() { state = .playing(Track(self), volume: 7) }
  func stop() { state = .idle }
}
@inline(never) func start(_ player: Player) { player.start() }
@inline(never) func run() {
  let player = Player()
  start(player)
  #if FIXED
    player.stop()
  #endif
}
run()
