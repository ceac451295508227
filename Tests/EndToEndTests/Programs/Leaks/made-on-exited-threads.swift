// Cycles made on threads that are gone when the program ends, and on idle dispatch workers.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1000 at=thread
// EXPECT leak kind=retainCycle types=App.Work fields=next count=1000 at=worker
import Dispatch
import Foundation

final class Node {
  var next: Node?
}
final class Work {
  var input = 3.5
  var next: Work?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeNodes() {
  for _ in 0..<1000 {
    let node = Node()  // @thread
    node.next = node
    use(node)
  }
}
@inline(never) func makeWork() {
  for _ in 0..<1000 {
    let work = Work()  // @worker
    work.next = work
    use(work)
  }
}
let done = DispatchSemaphore(value: 0)
Thread {
  makeNodes()
  done.signal()
}.start()
done.wait()
let group = DispatchGroup()
DispatchQueue.global().async(group: group) { makeWork() }
group.wait()
usleep(100_000)
