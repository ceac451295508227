// An object that the target of a timer has.
// KEPT BY the target, its timer, and the run loop that keeps both
// ADVICE the run loop holds the timer until it is invalidated, and with it everything on this path
// FIX `invalidate()`
import Undead
import UndeadRunLoop

final class Screen: Sendable {}
final class Poller: @unchecked Sendable {
  private let screen: Screen
  private var timer: TrackedTimer?
  init(_ screen: Screen) { self.screen = screen }
  func start() throws {
    timer = try TrackedTimer.scheduledTimer(timeInterval: 1000, target: self, repeats: true) { _, _ in }
  }
  func stop() { timer?.invalidate() }
}
@inline(never) func start(_ scope: OwnerScope) throws {
  let poller = Poller(scope.adopt(Screen()))
  try poller.start()
  #if FIXED
    poller.stop()
  #endif
}
let scope = OwnerScope("screen")
try start(scope)
scope.close(grace: .zero)
