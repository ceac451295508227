// A task in a field that captures `self` and does not end.
// KEPT BY the waiting task
// ADVICE the task waits and holds the object that holds it in `task`: cancel it when the owner is done
// FIX a method that cancels the task, called when the owner is done
final class Refresher: @unchecked Sendable {
  private var task: Task<Void, any Error>?
  private var count = 0
  func start() {
    task = Task {
      while true {
        try await Task.sleep(for: .seconds(1000))
        count += 1
      }
    }
  }
  func stop() { task?.cancel() }
}
@inline(never) func run() async {
  let refresher = Refresher()
  refresher.start()
  try? await Task.sleep(for: .milliseconds(100))
  #if FIXED
    refresher.stop()
  #endif
}
await run()
try? await Task.sleep(for: .milliseconds(200))
