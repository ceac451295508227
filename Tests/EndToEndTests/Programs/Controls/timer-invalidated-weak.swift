// A timer that is invalidated as it should be: Foundation loses it all the same, which the program cannot help.
// EXPECT silent
import Foundation

final class Clock: @unchecked Sendable {
  var ticks = 0
  private var timer: Timer?

  func start() {
    timer = Timer.scheduledTimer(withTimeInterval: 500, repeats: true) { [weak self] _ in self?.ticks += 1 }
  }

  deinit { timer?.invalidate() }
}

@inline(never) func run() {
  let clock = Clock()
  clock.start()
}
for _ in 0..<3 { run() }
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
