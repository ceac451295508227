// Objects that only a running or sleeping task, block or timer holds, and which do not hold it: ordinary services.
// EXPECT silent
import Foundation

final class Service: @unchecked Sendable {
  var rounds = 0
  func run() async {
    while true {
      rounds += 1
      try? await Task.sleep(for: .milliseconds(5))
    }
  }
}
@inline(never) func start() {
  for _ in 0..<10 {
    let service = Service()
    Task.detached { await service.run() }
    let other = Service()
    DispatchQueue.global().asyncAfter(deadline: .now() + 100) { other.rounds += 1 }
    let ticked = Service()
    Timer.scheduledTimer(withTimeInterval: 300, repeats: true) { _ in ticked.rounds += 1 }
    let observed = Service()
    _ = NotificationCenter.default.addObserver(forName: Notification.Name("x"), object: nil, queue: nil) { _ in
      observed.rounds += 1
    }
  }
}
start()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.2))
print("served")
