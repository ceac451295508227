// A task that is scheduled on an event loop of its owner, which does not run.
// KEPT BY the event loop
// ADVICE a scheduled task captures `self` strongly, and its event loop holds it
// FIX run the loop, or cancel the task
import NIOEmbedded

final class Client {
  private let loop = EmbeddedEventLoop()
  private var retries = 0
  func start() {
    loop.schedule { self.retries += 1 }
    #if FIXED
      loop.run()
    #endif
  }
}
@inline(never) func run() { Client().start() }
run()
