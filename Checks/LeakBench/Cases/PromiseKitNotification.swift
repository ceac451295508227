// source: PromiseKit/Foundation pull request 4
// An observer for one notification removes itself by a variable that its own block captures: the block holds the token for
// ever, the token its block. The fix clears the variable. The center is one of our own: the token of Foundation's on Linux
// does not hold the block.
// expect: leak Token in observeOnce

enum PromiseKitNotification: LeakCase {
  final class Token {
    let block: (String) -> Void
    init(_ block: @escaping (String) -> Void) { self.block = block }
  }

  final class Center {
    private var tokens: [String: [Token]] = [:]

    func addObserver(_ name: String, _ block: @escaping (String) -> Void) -> Token {
      let token = Token(block)
      tokens[name, default: []].append(token)
      return token
    }
    func removeObserver(_ token: Token, _ name: String) { tokens[name]?.removeAll { $0 === token } }
    func post(_ name: String) { for token in tokens[name] ?? [] { token.block(name) } }
  }

  final class Promise {
    var value: String?
  }

  nonisolated(unsafe) static let center = Center()

  @inline(never) static func observeOnce(_ name: String) -> Promise {
    let promise = Promise()
    var id: Token?
    id = center.addObserver(name) { value in
      promise.value = value
      if let token = id { center.removeObserver(token, name) }
      #if FIXED
        id = nil
      #endif
    }
    return promise
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let promise = observeOnce("once")
      center.post("once")
      precondition(promise.value != nil)
    }
  }
}
