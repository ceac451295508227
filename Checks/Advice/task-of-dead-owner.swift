// A task in a loop that captures `self` weakly, and is not cancelled.
// KEPT BY the timer that it sleeps by
// ADVICE the object that the task works for is gone, and did not cancel it: cancel `task` of App.Clock in its deinit
// FIX a deinit that cancels the task
final class Clock: @unchecked Sendable {
  private var task: Task<Void, any Error>?
  private var count = 0
  func start() {
    task = Task { [weak self] in
      while true {
        try await Task.sleep(for: .seconds(1000))
        self?.count += 1
      }
    }
  }
  #if FIXED
    deinit { task?.cancel() }
  #endif
}
@inline(never) func run() async {
  let clock = Clock()
  clock.start()
  try? await Task.sleep(for: .milliseconds(100))
}
await run()
try? await Task.sleep(for: .milliseconds(200))
