// An object held by queue-specific data of a queue that the object owns.
// EXPECT leak kind=retainCycle types=App.Worker fields=queue count=3
import Dispatch

final class Worker {
  static let key = DispatchSpecificKey<Worker>()
  let queue = DispatchQueue(label: "worker")
  init() { queue.setSpecific(key: Worker.key, value: self) }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() { use(Worker()) }
for _ in 0..<3 { make() }
