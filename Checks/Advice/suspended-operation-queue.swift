// A block that waits in an operation queue which is suspended, and captures the owner of the queue.
// KEPT BY the operation, which keeps its queue until it has run
// ADVICE an operation waits in an OperationQueue that is suspended, or for one that never finishes, and its block captures
// FIX `isSuspended = false`
import Foundation

final class Uploader: @unchecked Sendable {
  private let queue = OperationQueue()
  private var count = 0
  func start() {
    queue.isSuspended = true
    queue.addOperation { self.count += 1 }
    #if FIXED
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
    #endif
  }
}
@inline(never) func run() { Uploader().start() }
run()
