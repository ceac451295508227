// source: swift-server/async-http-client e264599 (#657)
// A stream was taken out of the set of open streams when the connection closed, not when the stream closed. The fix
// registers with the stream.
// expect: growth Stream via Connection.openStreams

enum AHCOpenStreams: LeakCase {
  final class CloseFuture {
    private var callbacks: [() -> Void] = []
    func whenComplete(_ callback: @escaping () -> Void) { callbacks.append(callback) }
    func complete() {
      let ready = callbacks
      callbacks = []
      for callback in ready { callback() }
    }
  }

  final class Stream: Hashable {
    let id: Int
    let closed = CloseFuture()
    var body = [UInt8](repeating: 0, count: 64)

    init(id: Int) { self.id = id }
    static func == (one: Stream, other: Stream) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
  }

  final class Connection {
    let closed = CloseFuture()
    var openStreams = Set<Stream>()

    func open(id: Int) -> Stream {
      let stream = Stream(id: id)
      openStreams.insert(stream)
      #if FIXED
        stream.closed.whenComplete { self.openStreams.remove(stream) }
      #else
        closed.whenComplete { self.openStreams.remove(stream) }
      #endif
      return stream
    }
  }

  nonisolated(unsafe) static let connection = Connection()

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds { connection.open(id: round).closed.complete() }
  }
}
