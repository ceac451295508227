// A block in a queue that is suspended and never resumed.
// KEPT BY the queue, which its owner has
// ADVICE a block waits in a dispatch queue that is suspended or was never activated
// FIX `resume()` once for each `suspend()`
import Dispatch

final class Writer: @unchecked Sendable {
  private let queue = DispatchQueue(label: "writer")
  private var written = 0
  func write() {
    queue.suspend()
    queue.async { self.written += 1 }
    #if FIXED
      queue.resume()
    #endif
  }
}
@inline(never) func run() { Writer().write() }
run()
try? await Task.sleep(for: .milliseconds(200))
