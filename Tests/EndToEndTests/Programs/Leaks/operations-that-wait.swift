// Operations that wait for ever in a queue that nobody but their blocks' owner holds.
// EXPECT leak kind=retainCycle types=App.Waiter fields=operation count=2
// EXPECT leak kind=retainCycle types=App.Suspended fields=queue count=2
import Foundation

final class Waiter {
  var results = 0
  let queue = OperationQueue()
  var operation: BlockOperation?
  init() {
    let gate = Operation()
    let waiting = BlockOperation { self.results += 5 }
    waiting.addDependency(gate)
    queue.addOperation(waiting)
    operation = waiting
  }
}
final class Suspended {
  var results = 0
  let queue = OperationQueue()
  init() {
    queue.isSuspended = true
    queue.addOperation { self.results += 6 }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  use(Waiter())
  use(Suspended())
}
for _ in 0..<2 { make() }
usleep(100_000)
