// A block in a notification center of one's own, which captures the owner of the center.
// KEPT BY the notification center
// ADVICE the observer's block captures
// FIX `[weak self]`, and `removeObserver(_:)`
import Foundation

final class Store: @unchecked Sendable {
  private let center = NotificationCenter()
  private var token: NSObjectProtocol?
  private var changes = 0
  func start() {
    #if FIXED
      token = center.addObserver(forName: .init("change"), object: nil, queue: nil) { [weak self] _ in
        self?.changes += 1
      }
    #else
      token = center.addObserver(forName: .init("change"), object: nil, queue: nil) { _ in self.changes += 1 }
    #endif
  }
}
@inline(never) func run() { Store().start() }
run()
