// A delegate kept as `unowned(unsafe)` is called after its owner let it go.
// EXPECT zombie kind=method type=App.Poller member=tick() allocated=makePoller freed=dropPoller used=poll
// EXPECT crash
class Poller {
  var count = 1
  func tick() -> Int { count + 41 }
}

final class Loop {
  unowned(unsafe) let poller: Poller
  init(_ poller: Poller) { self.poller = poller }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func makePoller() -> Poller { Poller() }
@inline(never) func dropPoller(_ poller: inout Poller?) {
  poller = nil
  done()
}
@inline(never) @_optimize(none) func poll(_ loop: Loop) {
  print(loop.poller.tick())
}

var poller: Poller? = makePoller()
let loop = Loop(poller!)
dropPoller(&poller)
poll(loop)
