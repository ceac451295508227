// Actors and tasks on executors of the program's own, with jobs waiting in its queues.
// EXPECT silent
// FLAGS -parse-as-library
import Foundation
import Synchronization

final class Payload: Sendable {
  let bytes = [UInt8](repeating: 1, count: 64)
}
final class SlowExecutor: SerialExecutor {
  private let jobs = Mutex<[UnownedJob]>([])
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }
  var count: Int { jobs.withLock { $0.count } }
}
actor Waiter {
  let executor: SlowExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  init(_ executor: SlowExecutor) { self.executor = executor }
  func work(_ payload: Payload) -> Int { payload.bytes.count }
}
let executor = SlowExecutor()

@main struct Main {
  static func main() async throws {
    let waiter = Waiter(executor)
    for _ in 0..<20 {
      Task.detached {
        let payload = Payload()
        print(await waiter.work(payload))
      }
    }
    while executor.count < 20 { await Task.yield() }
    print(executor.count)
    exit(0)
  }
}
