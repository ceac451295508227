// A timer of libdispatch whose handler captures `self` weakly, and that is not cancelled.
// KEPT BY libdispatch
// ADVICE the object that the timer fires for is gone, and did not stop it: cancel `timer` of App.Refresher in its deinit
// FIX a deinit that cancels the timer
import Dispatch

nonisolated(unsafe) var timers: [any DispatchSourceTimer] = []

final class Refresher: @unchecked Sendable {
  private let timer = DispatchSource.makeTimerSource()
  private var count = 0
  func start() {
    timer.setEventHandler { [weak self] in self?.count += 1 }
    timer.schedule(deadline: .now() + 1000, repeating: 1000)
    timer.resume()
    timers.append(timer)
  }
  #if FIXED
    deinit { timer.cancel() }
  #endif
}
@inline(never) func run() {
  Refresher().start()
}
run()
