// source: swiftlang/sourcekit-lsp 2446a326
// A manager made a connection whose started state has the manager as its handler. The fix gives it a weak proxy.
// expect: leak BuildManager via LocalConnection.state

protocol LSPMessageHandlerProtocol: AnyObject, Sendable {
  func handle(_ message: String) async
}

enum LSPMessageHandler: LeakCase {
  final class WeakHandler: LSPMessageHandlerProtocol, @unchecked Sendable {
    private weak var handler: (any LSPMessageHandlerProtocol)?
    init(_ handler: any LSPMessageHandlerProtocol) { self.handler = handler }
    func handle(_ message: String) async { await handler?.handle(message) }
  }

  final class LocalConnection: @unchecked Sendable {
    private enum State {
      case ready
      case started(any LSPMessageHandlerProtocol)
      case closed
    }
    private var state = State.ready
    func start(_ handler: any LSPMessageHandlerProtocol) { state = .started(handler) }
    func send(_ message: String) async { if case .started(let handler) = state { await handler.handle(message) } }
  }

  actor BuildManager: LSPMessageHandlerProtocol {
    private var connection: LocalConnection?
    private var messages: [String] = []

    func start() async {
      let connection = LocalConnection()
      #if FIXED
        connection.start(WeakHandler(self))
      #else
        connection.start(self)
      #endif
      self.connection = connection
      await connection.send("initialize")
    }

    func handle(_ message: String) { messages.append(message) }
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking { for _ in 0..<rounds { await BuildManager().start() } }
  }
}
