// Tokens in arrays and observers that are called on an operation queue.
// EXPECT suspect kind=heldByObserver types=App.Badges count=2
// EXPECT suspect kind=heldByObserver types=App.Queued count=2
import Foundation

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
@inline(never) func show() {
  use(Badges())
  use(Queued())
}
for _ in 0..<2 { show() }
usleep(100_000)
