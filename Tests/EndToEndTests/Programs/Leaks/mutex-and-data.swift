// The references are behind a Mutex, beside values of Foundation that look like pointers.
// EXPECT leak kind=retainCycle types=App.Pool,App.Worker fields=state~workers,pool count=3 at=pool|worker
import Foundation
import Synchronization

final class Worker {
  var data = Data(repeating: 1, count: 1000)
  var date = Date()
  var pool: Pool?
}
final class Pool: @unchecked Sendable {
  struct State {
    var identifier = UUID()
    var workers: [Worker] = []
  }
  let state = Mutex(State())
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let pool = Pool()  // @pool
  let worker = Worker()  // @worker
  worker.pool = pool
  pool.state.withLock { $0.workers.append(worker) }
  use(pool)
}
for _ in 0..<3 { make() }
