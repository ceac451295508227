// Cycles that only weak references lead to: blocks that fire later, and a handle that cancels. The program ends each of them by such a
// reference, again and again, also while a check compares what it found. Each counts as revived, and none as refuted (scripts/check/refute).
// EXPECT silent
import Dispatch

final class Operation {
  weak var handle: Handle?
  var queue: Queue?
  init(_ queue: Queue, _ handle: Handle) { (self.queue, self.handle) = (queue, handle) }
}
final class Queue {
  var history: [Operation] = []
  let name: [Int] = [1, 2, 3]
}
final class Handle {
  weak var operation: Operation?
  func cancel() {
    let queue = operation?.queue
    operation?.queue = nil
    for operation in queue?.history ?? [] { operation.queue = nil }
  }
}

let timers = DispatchQueue(label: "timers")
let done = DispatchSemaphore(value: 0)

@inline(never) func start(_ handle: Handle) {
  let queue = Queue()
  for _ in 0..<8 {
    let operation = Operation(queue, handle)
    queue.history.append(operation)
    handle.operation = operation
    timers.asyncAfter(deadline: .now() + .microseconds(200)) { [weak operation] in _ = operation?.queue }
  }
}
@inline(never) func round() {
  let handles = (0..<20).map { _ in Handle() }
  for handle in handles { start(handle) }
  timers.sync {}
  for handle in handles { handle.cancel() }
}

for _ in 0..<(CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 400) { round() }
timers.asyncAfter(deadline: .now() + .milliseconds(5)) { done.signal() }
done.wait()
