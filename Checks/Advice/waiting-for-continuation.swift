// A task that waits for a continuation which a living object keeps and never resumes.
// KEPT BY the waiting task
// ADVICE for a continuation, and holds the object that holds it in `task`: resume it exactly once on every path
// FIX resume the continuation when the work is cancelled
import Synchronization

let waiting = Mutex<[CheckedContinuation<Int, Never>]>([])
final class Request: @unchecked Sendable {
  private var task: Task<Void, Never>?
  private var answer = 0
  func start() {
    task = Task { answer = await withCheckedContinuation { next in waiting.withLock { $0.append(next) } } }
  }
}
@inline(never) func run() async {
  let request = Request()
  request.start()
  try? await Task.sleep(for: .milliseconds(100))
  #if FIXED
    for next in waiting.withLock({ $0 }) { next.resume(returning: 0) }
  #endif
}
await run()
try? await Task.sleep(for: .milliseconds(100))
