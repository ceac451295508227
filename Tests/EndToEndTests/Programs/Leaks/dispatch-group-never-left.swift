// A group that is entered and never left: its notification waits for ever and captures the owner of the group.
// EXPECT leak|suspect types=App.Loader count=4
import Dispatch

final class Loader {
  let group = DispatchGroup()
  var loaded = false
  func load() {
    group.enter()
    group.notify(queue: .global()) { self.loaded = true }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let loader = Loader()
  loader.load()
  use(loader)
}
for _ in 0..<4 { make() }
