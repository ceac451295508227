// A task polls for ever and captures self, which stores the task: held only by a sleeping task.
// EXPECT suspect kind=heldByTask types=App.Poller count=3
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
final class Poller: @unchecked Sendable {
  var polls = 0
  var task: Task<Void, Never>?
  func start() {
    task = Task {
      while !Task.isCancelled {
        self.polls += 1
        arrive()
        try? await Task.sleep(for: .seconds(600))
      }
    }
  }
}
@inline(never) func makePoller() { Poller().start() }
@main struct Main {
  static func main() async throws {
    for _ in 0..<3 { makePoller() }
    wait_until_waiting(3)
  }
}
