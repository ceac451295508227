// Asynchronous sequences of Foundation and races between timers, all alive at the end.
// EXPECT silent
// FLAGS -parse-as-library
import Foundation

final class Listener: @unchecked Sendable {
  var heard = 0
  func listen() async {
    let (pings, continuation) = AsyncStream<Int>.makeStream()
    let token = NotificationCenter.default.addObserver(forName: Notification.Name("ping"), object: nil, queue: nil) {
      _ in
      continuation.yield(1)
    }
    for await ping in pings { heard += ping }
    NotificationCenter.default.removeObserver(token)
  }
}
func timeout<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
  try await withThrowingTaskGroup(of: Value.self) { group in
    group.addTask { try await work() }
    group.addTask {
      try await Task.sleep(for: .milliseconds(20))
      throw CancellationError()
    }
    defer { group.cancelAll() }
    return try await group.next()!
  }
}
@main struct Main {
  static func main() async throws {
    let listener = Listener()
    let task = Task { await listener.listen() }
    for number in 0..<10 {
      _ = try? await timeout {
        try await Task.sleep(for: .seconds(number % 2 == 0 ? 0 : 100))
        return number
      }
      NotificationCenter.default.post(name: Notification.Name("ping"), object: nil)
    }
    await withDiscardingTaskGroup { group in
      for _ in 0..<5 { group.addTask { _ = Listener() } }
    }
    print(task.isCancelled)
  }
}
