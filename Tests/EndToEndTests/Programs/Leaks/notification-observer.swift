// The token of a block observer is kept by the object that the block captures.
// EXPECT suspect kind=heldByObserver types=App.Badge count=4
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
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func show() { use(Badge()) }
for _ in 0..<4 { show() }
NotificationCenter.default.post(name: Notification.Name("mail"), object: nil)
