// Continuations that wait in globals, in actors, in Mutex and in cancellation handlers: somebody will resume them.
// EXPECT silent
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
import Foundation
import Synchronization

final class Request: @unchecked Sendable {
  var number = 1
}
final class Hub: Sendable {
  let waiting = Mutex<[CheckedContinuation<Int, Never>]>([])
  let throwing = Mutex<[CheckedContinuation<Int, any Error>]>([])
  static let shared = Hub()
}
nonisolated(unsafe) var unsafeOnes: [UnsafeContinuation<Void, Never>] = []
let lock = NSLock()

actor Mailbox {
  var readers: [CheckedContinuation<String, Never>] = []
  func read() async -> String {
    arrive()
    return await withCheckedContinuation { readers.append($0) }
  }
}
let mailbox = Mailbox()

@Sendable func wait() async {
  let request = Request()
  arrive()
  let value = await withCheckedContinuation { continuation in
    Hub.shared.waiting.withLock { $0.append(continuation) }
  }
  print(value, request.number)
}
@Sendable func waitThrowing() async throws {
  let request = Request()
  arrive()
  let value = try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { continuation in
      Hub.shared.throwing.withLock { $0.append(continuation) }
    }
  } onCancel: {
    request.number = 2
  }
  print(value, request.number)
}
@Sendable func waitUnsafe() async {
  let request = Request()
  arrive()
  await withUnsafeContinuation { continuation in
    lock.withLock { unsafeOnes.append(continuation) }
  }
  print(request.number)
}
@main struct Main {
  static func main() async throws {
    for _ in 0..<50 {
      Task.detached { await wait() }
      Task.detached { try await waitThrowing() }
      Task.detached { await waitUnsafe() }
      Task.detached {
        let request = Request()
        print(await mailbox.read(), request.number)
      }
    }
    wait_until_waiting(200)
  }
}
