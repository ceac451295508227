// An observer's block that captures the object with the token.
// KEPT BY NotificationCenter, until the token is removed
// ADVICE the block registered with NotificationCenter captures the object that keeps its token in `token`
// FIX `[weak self]` in the block, and `removeObserver(_:)` in `deinit`
import Foundation

final class Listener: @unchecked Sendable {
  private var token: (any NSObjectProtocol)?
  private var changes = 0
  func start() {
    #if FIXED
      token = NotificationCenter.default.addObserver(forName: Notification.Name("change"), object: nil, queue: nil) {
        [weak self] _ in self?.changes += 1
      }
    #else
      token = NotificationCenter.default.addObserver(forName: Notification.Name("change"), object: nil, queue: nil) {
        _ in self.changes += 1
      }
    #endif
  }
  deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}
@inline(never) func run() { Listener().start() }
run()
