// A dispatch timer with a handler that captures the owner of the timer.
// KEPT BY libdispatch, which keeps the source and its handler
// ADVICE the handler of the dispatch source captures the object that holds the source in `source`: capture `self` weakly
// FIX `[weak self]` in the handler, and `cancel()` in `deinit`
import Dispatch

final class Heartbeat: @unchecked Sendable {
  private let source = DispatchSource.makeTimerSource()
  private var beats = 0
  func start() {
    #if FIXED
      source.setEventHandler { [weak self] in self?.beats += 1 }
    #else
      source.setEventHandler { self.beats += 1 }
    #endif
    source.schedule(deadline: .now() + 1000)
    source.activate()
  }
  deinit { source.cancel() }
}
@inline(never) func run() { Heartbeat().start() }
run()
