// A timer of Foundation that was invalidated, with a block that captures its owner.
// KEPT BY Foundation on Linux, which never releases the block of a timer
// ADVICE Foundation's Timer on Linux never releases its block, not even after invalidate(): capture `self` weakly
// FIX `[weak self]` in the block
import Foundation

final class Clock {
  private var timer: Timer?
  private var ticks = 0
  func start() {
    #if FIXED
      timer = Timer(timeInterval: 1000, repeats: true) { [weak self] _ in self?.ticks += 1 }
    #else
      timer = Timer(timeInterval: 1000, repeats: true) { _ in self.ticks += 1 }
    #endif
  }
  func stop() {
    timer?.invalidate()
    timer = nil
  }
}
@inline(never) func run() {
  let clock = Clock()
  clock.start()
  clock.stop()
}
run()
