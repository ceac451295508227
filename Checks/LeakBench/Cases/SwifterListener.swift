// source: mattdonnelly/Swifter pull request 261
// `removeObserver(self)` does nothing for an observer that is a block. The fix keeps the token and removes that.
// expect: suspect Login via Login.token

import Foundation

enum SwifterListener: LeakCase {
  final class Login: @unchecked Sendable {
    private var token: (any NSObjectProtocol)?
    private var url: String?

    func listen() {
      token = NotificationCenter.default.addObserver(forName: Notification.Name("callback"), object: nil, queue: nil) {
        self.url = $0.name.rawValue
      }
    }

    func finish() {
      #if FIXED
        if let token { NotificationCenter.default.removeObserver(token) }
        token = nil
      #else
        NotificationCenter.default.removeObserver(self)
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let login = Login()
      login.listen()
      login.finish()
    }
  }
}
