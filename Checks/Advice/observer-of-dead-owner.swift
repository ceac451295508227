// An observer's block that captures `self` weakly, and that is not removed.
// KEPT BY NotificationCenter
// ADVICE the object that the observer's block works for is gone, and did not remove it: call removeObserver(_:) with `token` of App.Badge in its deinit
// FIX a deinit that removes the observer
import Foundation

final class Badge: @unchecked Sendable {
  private var token: (any NSObjectProtocol)?
  private var count = 0
  func start() {
    token = NotificationCenter.default.addObserver(forName: Notification.Name("mail"), object: nil, queue: nil) {
      [weak self] _ in self?.count += 1
    }
  }
  #if FIXED
    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
  #endif
}
@inline(never) func run() { Badge().start() }
run()
