// Streams with buffers, throwing streams, custom sequences, tasks waiting for tasks, priorities escalated.
// EXPECT silent
// FLAGS -parse-as-library
import Foundation

final class Event: @unchecked Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}
struct Counter: AsyncSequence {
  struct Iterator: AsyncIteratorProtocol {
    var event = Event(0)
    mutating func next() async -> Event? {
      try? await Task.sleep(for: .milliseconds(20))
      event = Event(event.number + 1)
      return event
    }
  }
  func makeAsyncIterator() -> Iterator { Iterator() }
}
final class Broadcaster: @unchecked Sendable {
  private var continuations: [Int: AsyncThrowingStream<Event, any Error>.Continuation] = [:]
  private let lock = NSLock()
  func events(_ id: Int) -> AsyncThrowingStream<Event, any Error> {
    AsyncThrowingStream { continuation in
      lock.withLock { continuations[id] = continuation }
      continuation.onTermination = { [weak self] _ in
        guard let self else { return }
        _ = self.lock.withLock { self.continuations.removeValue(forKey: id) }
      }
    }
  }
  func send(_ event: Event) {
    for continuation in lock.withLock({ Array(continuations.values) }) { continuation.yield(event) }
  }
}
let broadcaster = Broadcaster()

@main struct Main {
  static func main() async throws {
    for id in 0..<10 {
      Task(priority: .background) {
        for try await event in broadcaster.events(id) where event.number < 0 { print(event.number) }
      }
    }
    Task.detached {
      for await event in Counter() { broadcaster.send(event) }
    }
    let waited = Task.detached { () -> Int in
      let event = Event(3)
      try? await Task.sleep(for: .seconds(1000))
      return event.number
    }
    for _ in 0..<5 {
      Task(priority: .high) {
        let event = Event(4)
        print(await waited.value + event.number)
      }
    }
    let finished = broadcaster.events(99)
    Task { for try await _ in finished { break } }
    try await Task.sleep(for: .milliseconds(300))
  }
}
