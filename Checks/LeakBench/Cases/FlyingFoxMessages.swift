// source: swhitty/FlyingFox 832d092
// The stream of incoming messages was not finished when the connection closed, so that a handler that reads it waits for
// ever; the session that can finish it is held by the handler. The fix finishes it whenever the connection ends.
// expect: leak Session via Session.incoming

enum FlyingFoxMessages: LeakCase {
  final class Session: @unchecked Sendable {
    let messages: AsyncStream<String>
    private let incoming: AsyncStream<String>.Continuation
    private(set) var count = 0

    init() { (messages, incoming) = AsyncStream<String>.makeStream() }

    func handle() async {
      for await _ in messages { count += 1 }
    }

    func receive(_ text: String) { incoming.yield(text) }

    func closed() {
      #if FIXED
        incoming.finish()
      #endif
    }
  }

  static func oneRound() async {
    let session = Session()
    let task = Task { await session.handle() }
    session.receive("text")
    await waitUntil { session.count == 1 }
    session.closed()
    #if FIXED
      await task.value
    #else
      _ = task
    #endif
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking { for _ in 0..<rounds { await oneRound() } }
  }
}
