// source: swiftlang/sourcekit-lsp e50b4d78
// A request that waits for its reply keeps the connection by its reply handler. When the other side crashed, the entries
// stayed. The fix answers and removes them.
// expect: leak Connection via Connection.outstanding

enum LSPOutstandingRequests: LeakCase {
  struct Outstanding {
    var method: String
    var reply: (Result<String, any Error>) -> Void
  }
  struct Closed: Error {}

  final class Connection {
    private var outstanding: [Int: Outstanding] = [:]
    private var failures = 0

    func send(_ method: String) {
      outstanding[outstanding.count] = Outstanding(method: method) { result in
        if case .failure = result { self.failures += 1 }
      }
    }

    func closed() {
      #if FIXED
        for request in outstanding.values { request.reply(.failure(Closed())) }
        outstanding = [:]
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds {
      let connection = Connection()
      connection.send("initialize")
      connection.send("shutdown")
      connection.closed()
    }
  }
}
