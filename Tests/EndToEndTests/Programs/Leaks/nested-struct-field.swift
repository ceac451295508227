// The reference sits two structs deep and in the second element of a tuple.
// EXPECT leak kind=retainCycle types=App.Player,App.Engine fields=state~audio~engine,link~owner count=4 at=player|engine
struct Audio {
  var volume = 0.5
  var engine: Engine?
}
struct State {
  var title = "none"
  var audio = Audio()
}
final class Player {
  var isOn = true
  var state = State()
}
final class Engine {
  var rate: Int8 = 1
  var link: (count: Int, owner: Player?) = (0, nil)
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makePlayer() {
  let player = Player()  // @player
  let engine = Engine()  // @engine
  player.state.audio.engine = engine
  engine.link.owner = player
  use(player)
}
for _ in 0..<4 { makePlayer() }
