// A notify block of a dispatch group that is entered and never left.
// KEPT BY the group, which its owner has
// ADVICE a notify block waits for a dispatch group that is never left
// FIX `leave()` on every path
import Dispatch

final class Loader: @unchecked Sendable {
  private let group = DispatchGroup()
  private var isDone = false
  func load() {
    group.enter()
    group.notify(queue: .global()) { self.isDone = true }
    #if FIXED
      group.leave()
    #endif
  }
}
@inline(never) func run() { Loader().load() }
run()
try? await Task.sleep(for: .milliseconds(200))
