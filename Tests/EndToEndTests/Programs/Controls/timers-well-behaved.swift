// Timers, observers and sources that hold nothing back: weak captures, tokens in globals.
// EXPECT silent
import Foundation

final class Clock {
  var ticks = 0
  var timer: Timer?
  var source: (any DispatchSourceTimer)?
  var token: (any NSObjectProtocol)?
  func start() {
    timer = Timer.scheduledTimer(withTimeInterval: 500, repeats: true) { [weak self] _ in self?.ticks += 1 }
    token = NotificationCenter.default.addObserver(forName: Notification.Name("tick"), object: nil, queue: nil) {
      [weak self] _ in self?.ticks += 1
    }
    let source = DispatchSource.makeTimerSource(queue: .global())
    source.setEventHandler { [weak self] in self?.ticks += 1 }
    source.schedule(deadline: .now() + 500, repeating: 500)
    source.resume()
    self.source = source
  }
}
final class Delegate {
  var events = 0
}
var clocks: [Clock] = []
let delegate = Delegate()

@inline(never) func start() {
  for _ in 0..<4 {
    let clock = Clock()
    clock.start()
    clocks.append(clock)
  }
  Timer.scheduledTimer(withTimeInterval: 700, repeats: true) { _ in delegate.events += 1 }
}
start()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
NotificationCenter.default.post(name: Notification.Name("tick"), object: nil)
print(clocks.count, clocks[0].ticks)
