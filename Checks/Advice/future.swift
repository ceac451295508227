// Futures that wait for each other, because a promise is lost.
// KEPT BY each other
// ADVICE what waits for a future is held by it until its promise is completed
// FIX complete the promise on every path
import NIOCore

@inline(never) func run() {
  let request = EventLoopPromise<Int>()
  let answer = EventLoopPromise<Int>()
  request.futureResult.whenSuccess { answer.succeed($0) }
  answer.futureResult.whenSuccess { request.succeed($0) }
  #if FIXED
    request.succeed(1)
  #endif
}
run()
