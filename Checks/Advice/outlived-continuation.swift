// An object of a task that waits for a continuation that a live object has.
// KEPT BY the task
// ADVICE a task that waits for a continuation holds it: resume the continuation exactly once on every path
// FIX resume it when the scope ends
import Undead

final class Screen: Sendable { func show(_ number: Int) {} }
final class Server: @unchecked Sendable { var waiting: CheckedContinuation<Int, Never>? }
let server = Server()
@inline(never) func start(_ scope: OwnerScope) {
  let screen = scope.adopt(Screen())
  Task.detached { screen.show(await withCheckedContinuation { server.waiting = $0 }) }
}
let scope = OwnerScope("screen")
start(scope)
try await Task.sleep(for: .milliseconds(200))
#if FIXED
  server.waiting?.resume(returning: 1)
  try await Task.sleep(for: .milliseconds(200))
#endif
scope.close(grace: .zero)
