// source: grpc/grpc-swift 75b390e9 (#1587)
// The handler's state has the connection manager as a payload, whose state has the channel with this handler. The fix gives
// the handler's state a case without one, for its removal.
// expect: leak IdleHandler via IdleHandler.mode

enum GRPCIdleHandler: LeakCase {
  final class Multiplexer {
    var streams = 0
  }

  final class Channel {
    var handlers: [IdleHandler] = []
    func close() {
      for handler in handlers { handler.removed() }
    }
  }

  final class Manager {
    enum State {
      case idle
      case connecting(attempt: Int)
      case active(Channel, Multiplexer)
    }
    var state = State.idle
  }

  final class IdleHandler {
    enum Configuration {
      case partial(Manager)
      case complete(Manager, Multiplexer)
      case deinitialized
    }
    enum Mode {
      case client(Configuration)
      case server(idleTime: Int)
    }
    var mode: Mode

    init(manager: Manager) { mode = .client(.partial(manager)) }

    func opened(_ multiplexer: Multiplexer) {
      if case .client(.partial(let manager)) = mode { mode = .client(.complete(manager, multiplexer)) }
    }

    func removed() {
      #if FIXED
        mode = .client(.deinitialized)
      #endif
    }
  }

  @inline(never) static func oneRound() {
    let channel = Channel()
    let manager = Manager()
    manager.state = .connecting(attempt: 1)
    let handler = IdleHandler(manager: manager)
    channel.handlers.append(handler)
    let multiplexer = Multiplexer()
    handler.opened(multiplexer)
    manager.state = .active(channel, multiplexer)
    channel.close()
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { oneRound() }
  }
}
