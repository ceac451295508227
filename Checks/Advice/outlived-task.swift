// An object of a task that has not ended when the scope does.
// KEPT BY the task
// ADVICE a task that has not ended holds it: cancel the task when the scope ends
// FIX cancel it
import Undead

final class Screen: Sendable { func show() {} }
@inline(never) func start(_ scope: OwnerScope) -> Task<Void, any Error> {
  let screen = scope.adopt(Screen())
  return Task.detached {
    try await Task.sleep(for: .seconds(1000))
    screen.show()
  }
}
let scope = OwnerScope("screen")
let task = start(scope)
try await Task.sleep(for: .milliseconds(200))
#if FIXED
  task.cancel()
  try await Task.sleep(for: .milliseconds(200))
#endif
scope.close(grace: .zero)
