// An async closure stored in self: its function word is no code address but an async function pointer.
// EXPECT leak kind=retainCycle types=App.Feed fields=load count=3 at=feed closure=connect closureAt=closure
// FLAGS -parse-as-library
final class Feed {
  var items = 0
  var load: (() async -> Int)?
  func connect(step: Int) {
    load = {  // @closure
      await Task.yield()
      self.items += step
      return self.items
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeFeed(_ step: Int) async {
  let feed = Feed()  // @feed
  feed.connect(step: step)
  print(await feed.load?() ?? 0)
  use(feed)
}
@main struct Main {
  static func main() async {
    for step in 0..<3 { await makeFeed(step) }
  }
}
