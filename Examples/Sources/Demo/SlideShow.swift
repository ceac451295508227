import Foundation

/// Turns to the next photo every few seconds.
final class SlideShow: @unchecked Sendable {
  private var page = 0
  private var timer: Timer?

  func start() {
    // Here is the second mistake: the run loop holds the timer, the timer this block, and the block self.
    timer = Timer.scheduledTimer(withTimeInterval: 5, repeats: true) { _ in self.page += 1 }
  }

  deinit { timer?.invalidate() }
}
