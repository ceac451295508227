// The token of a block observer is kept by the object that the block captures: in a field, in an array, and where the block is called on
// an operation queue.
// EXPECT suspect kind=heldByObserver types=App.Badge count=4
// EXPECT suspect kind=heldByObserver types=App.Badges count=2
// EXPECT suspect kind=heldByObserver types=App.Queued count=2
import Foundation

final class Badge {
  var count = 0
  var token: (any NSObjectProtocol)?
  init() {
    token = NotificationCenter.default.addObserver(forName: Notification.Name("mail"), object: nil, queue: nil) { _ in
      self.count += 1
    }
  }
  deinit { token.map(NotificationCenter.default.removeObserver) }
}
final class Badges {
  var count = 0
  var tokens: [any NSObjectProtocol] = []
  init() {
    for name in ["mail", "chat"] {
      let token = NotificationCenter.default.addObserver(forName: Notification.Name(name), object: nil, queue: nil) {
        _ in
        self.count += 1
      }
      tokens.append(token)
    }
  }
}
final class Queued {
  var count = 0
  let queue = OperationQueue()
  var token: (any NSObjectProtocol)?
  init() {
    token = NotificationCenter.default.addObserver(forName: Notification.Name("call"), object: nil, queue: queue) { _ in
      self.count += 2
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func showBadge() { use(Badge()) }
@inline(never) func show() {
  use(Badges())
  use(Queued())
}
for _ in 0..<4 { showBadge() }
for _ in 0..<2 { show() }
NotificationCenter.default.post(name: Notification.Name("mail"), object: nil)
usleep(100_000)
