// source: Alamofire/Alamofire 62a5683b9fb2
// The queue of a task that was never started stayed suspended, and its operations with it. The fix lets it run in `deinit`.
// expect: leak Response in TaskDelegate.init

import Foundation

enum AlamofireSuspendedQueue: LeakCase {
  final class Response: @unchecked Sendable {
    var bytes = [UInt8](repeating: 0, count: 64)
  }

  final class TaskDelegate {
    let queue = OperationQueue()

    init() {
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
    }

    deinit {
      queue.cancelAllOperations()
      #if FIXED
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
      #else
        queue.isSuspended = true
      #endif
    }
  }

  @inline(never) static func oneRound() {
    let delegate = TaskDelegate()
    let response = Response()
    delegate.queue.addOperation { response.bytes[0] = 1 }
  }

  @inline(never) static func run(rounds: Int) {
    for _ in 0..<rounds { oneRound() }
  }
}
