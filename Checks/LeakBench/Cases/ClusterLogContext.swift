// source: apple/swift-distributed-actors eb3215b9
// The logger of an actor's context has a closure for the name of the dispatcher, which captured the context. The fix
// captures the name.
// expect: leak Context via Context.log

enum ClusterLogContext: LeakCase {
  struct Handler {
    var identifier: String
    var dispatcher: () -> String
  }

  struct Logger {
    var level = 1
    var handler: Handler
  }

  class Context {
    let path: String
    let dispatcherName = "default"
    lazy var log: Logger = makeLogger()

    init(path: String) { self.path = path }

    private func makeLogger() -> Logger {
      #if FIXED
        let name = dispatcherName
        return Logger(handler: Handler(identifier: path) { name })
      #else
        return Logger(handler: Handler(identifier: path) { self.dispatcherName })
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds { precondition(Context(path: "/user/\(round)").log.handler.dispatcher() == "default") }
  }
}
