// The owner of an observer's block, which was to end with a scope.
// KEPT BY NotificationCenter, until the token is removed
// ADVICE a block registered with NotificationCenter holds it: capture `self` weakly, and call removeObserver(_:)
// FIX `[weak self]`, and `removeObserver(_:)`
import Foundation
import Undead

final class Screen: @unchecked Sendable {
  private var changes = 0
  #if FIXED
    private var token: (any NSObjectProtocol)?
    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
  #endif
  func start() {
    #if FIXED
      token = NotificationCenter.default.addObserver(forName: .init("change"), object: nil, queue: nil) {
        [weak self] _ in
        self?.changes += 1
      }
    #else
      _ = NotificationCenter.default.addObserver(forName: .init("change"), object: nil, queue: nil) { _ in
        self.changes += 1
      }
    #endif
  }
}
@inline(never) func start(_ scope: OwnerScope) { scope.adopt(Screen()).start() }
let scope = OwnerScope("screen")
start(scope)
scope.close(grace: .zero)
