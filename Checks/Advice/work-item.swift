// A work item that schedules itself again and again, and that its owner keeps to cancel it.
// KEPT BY libdispatch, until the item has run
// ADVICE the work item in `item` is to run later, and captures the object that has it: capture `self` weakly
// FIX `[weak self]` in the item, and `cancel()` in `deinit`
import Dispatch

final class Poller: @unchecked Sendable {
  private var item: DispatchWorkItem?
  func poll() {
    #if FIXED
      let next = DispatchWorkItem { [weak self] in self?.poll() }
    #else
      let next = DispatchWorkItem { self.poll() }
    #endif
    item = next
    DispatchQueue.global().asyncAfter(deadline: .now() + 1000, execute: next)
  }
  deinit { item?.cancel() }
}
@inline(never) func run() { Poller().poll() }
run()
