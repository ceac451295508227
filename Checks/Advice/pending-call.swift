// A closure that waits for a future of its owner, whose promise is lost.
// KEPT BY the future
// ADVICE a closure that waits for a future captures `self` strongly, and the future holds it
// FIX complete the promise on every path
import NIOCore

final class Request {
  private let promise = EventLoopPromise<Int>()
  private var answer = 0
  func start() {
    promise.futureResult.whenSuccess { self.answer = $0 }
    #if FIXED
      promise.succeed(1)
    #endif
  }
}
@inline(never) func run() { Request().start() }
run()
