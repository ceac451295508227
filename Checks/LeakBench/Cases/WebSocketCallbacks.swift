// source: vapor/websocket-kit 274f8d1
// Default callbacks of a socket captured the socket that keeps them. The fix captures it unowned.
// expect: leak Socket via Socket.onText

enum WebSocketCallbacks: LeakCase {
  final class Socket {
    var onText: (Socket, String) -> Void
    private var buffer: [String]?

    init() {
      onText = { _, _ in }
      #if FIXED
        onText = { [unowned self] _, text in buffer = (buffer ?? []) + [text] }
      #else
        onText = { _, text in self.buffer = (self.buffer ?? []) + [text] }
      #endif
    }

    func receive(_ text: String) { onText(self, text) }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { Socket().receive("text") }
  }
}
