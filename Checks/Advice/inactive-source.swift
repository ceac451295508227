// A dispatch source that is never activated, with a handler that captures its owner.
// KEPT BY the source, which its owner has
// ADVICE the dispatch source was never activated, or is suspended, and its handler captures its owner
// FIX `activate()`, `[weak self]` in the handler, and `cancel()` in `deinit`
import Dispatch

final class Alarm: @unchecked Sendable {
  private let source = DispatchSource.makeTimerSource()
  private var rings = 0
  func set() {
    source.schedule(deadline: .now() + 1000)
    #if FIXED
      source.setEventHandler { [weak self] in self?.rings += 1 }
      source.activate()
    #else
      source.setEventHandler { self.rings += 1 }
    #endif
  }
  deinit { source.cancel() }
}
@inline(never) func run() { Alarm().set() }
run()
