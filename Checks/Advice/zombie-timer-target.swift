// A timer that fires for a target that was deallocated.
// KEPT BY nothing
// ADVICE the timer does not retain its target
// FIX a weak target
// OPTIONS --zombies
import UndeadRunLoop

final class Screen: Sendable { func update() {} }
@inline(never) func start() throws -> TrackedTimer {
  #if FIXED
    try TrackedTimer.scheduledTimer(timeInterval: 0.01, target: Screen(), holding: .weak, repeats: false) { screen, _ in
      screen.update()
    }
  #else
    try TrackedTimer.scheduledTimer(timeInterval: 0.01, target: Screen(), holding: .unretained, repeats: false) {
      screen, _ in
      screen.update()
    }
  #endif
}
let timer = try start()
TrackedRunLoop.current.run(for: .milliseconds(100))
timer.invalidate()
