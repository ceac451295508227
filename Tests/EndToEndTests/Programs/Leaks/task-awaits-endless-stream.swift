// A task stored in self iterates over a stream that self keeps open: nobody else knows either.
// EXPECT leak kind=retainCycle types=App.Subscriber fields=task count=5
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
final class Subscriber: @unchecked Sendable {
  private let stream: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation
  private var task: Task<Void, Never>?
  var seen = 0

  init() {
    (stream, continuation) = AsyncStream<Int>.makeStream()
  }
  func start() {
    task = Task {
      for await value in stream {
        self.seen += value
        arrive()
      }
    }
  }
  func send(_ value: Int) { continuation.yield(value) }
}
@inline(never) func makeSubscriber() {
  let subscriber = Subscriber()
  subscriber.start()
  subscriber.send(3)
}
@main struct Main {
  static func main() async throws {
    for _ in 0..<5 { makeSubscriber() }
    wait_until_waiting(5)
  }
}
