// A task in a loop that captures `self` weakly, and that nothing keeps.
// KEPT BY the timer that it sleeps by
// ADVICE the object that the task works for is gone, and did not cancel it: keep the task in a field of App.Clock
// FIX a field with the task, and a deinit that cancels it
final class Clock: @unchecked Sendable {
  #if FIXED
    private var task: Task<Void, any Error>?
  #endif
  private var count = 0
  func start() {
    let task = Task { [weak self] in
      while true {
        try await Task.sleep(for: .seconds(1000))
        self?.count += 1
      }
    }
    #if FIXED
      self.task = task
    #else
      _ = task
    #endif
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
