// Threads that wait on conditions of the objects which their blocks capture, and observers of a model in a global.
// EXPECT silent
// HEADER ../Support/waiting.h
import Foundation
import Observation

final class Worker: @unchecked Sendable {
  let condition = NSCondition()
  var thread: Thread?
  var rounds = 0
  func start(_ ready: DispatchSemaphore) {
    let thread = Thread {
      ready.signal()
      self.run()
    }
    self.thread = thread
    thread.start()
  }
  func run() {
    condition.lock()
    while rounds < 1_000_000 {
      condition.wait()
      rounds += 1
    }
    condition.unlock()
  }
}
@Observable final class Model {
  var value = 0
}
final class View {
  let model: Model
  var renders = 0
  init(_ model: Model) { self.model = model }
  func render() {
    withObservationTracking {
      renders += model.value
    } onChange: {
      self.renders += 1
    }
  }
}
let shared = Model()
let ready = DispatchSemaphore(value: 0)
@inline(never) func make() {
  Worker().start(ready)
  View(shared).render()
}
for _ in 0..<3 { make() }
for _ in 0..<3 { ready.wait() }
wait_until_others_sleep()
print(shared.value)
