// Owners whose own timers keep them, made on a queue after much other work: the continuations of their handlers are recycled ones, with
// links to the next from before. Nothing says who made a block.
// EXPECT suspect types=App.Owner count=100
// OPTIONS --stacks none
import Foundation

final class Owner {
  let timer = DispatchSource.makeTimerSource(queue: .global())
  var fired = 0
  func start() {
    timer.setEventHandler { self.fired += 1 }
    timer.schedule(deadline: .now() + 1000, repeating: 1000)
    timer.resume()
  }
}
final class Request: @unchecked Sendable {
  var served = 0
}
nonisolated(unsafe) var requests: [Request] = []
for _ in 0..<2000 { requests.append(Request()) }
let queue = DispatchQueue(label: "requests")
for request in requests { queue.async { request.served += 1 } }
queue.sync {}
let ended = DispatchSemaphore(value: 0)
for request in requests { queue.async { request.served += 1 } }
queue.async {
  for _ in 0..<100 { Owner().start() }
  ended.signal()
}
ended.wait()
print(requests.count)
