// Timers, sources, observers and tasks that hold their owner, which a global holds as well: alive on purpose.
// EXPECT silent
import Foundation

final class Clock: @unchecked Sendable {
  var ticks = 0
  var timer: Timer?
  var source: (any DispatchSourceTimer)?
  var token: (any NSObjectProtocol)?
  var task: Task<Void, Never>?
  func start() {
    timer = Timer.scheduledTimer(withTimeInterval: 500, repeats: true) { _ in self.ticks += 1 }
    token = NotificationCenter.default.addObserver(forName: Notification.Name("tick"), object: nil, queue: nil) { _ in
      self.ticks += 1
    }
    let source = DispatchSource.makeTimerSource(queue: .global())
    source.setEventHandler { self.ticks += 1 }
    source.schedule(deadline: .now() + 500, repeating: 500)
    source.resume()
    self.source = source
    task = Task {
      while !Task.isCancelled {
        self.ticks += 1
        try? await Task.sleep(for: .seconds(500))
      }
    }
  }
}
final class Registry {
  static let shared = Registry()
  var clocks: [String: Clock] = [:]
}
@inline(never) func start() {
  for number in 0..<4 {
    let clock = Clock()
    clock.start()
    Registry.shared.clocks["clock \(number)"] = clock
  }
}
start()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1))
print(Registry.shared.clocks.count)
