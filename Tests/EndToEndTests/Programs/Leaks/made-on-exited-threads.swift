// What threads leave that are gone when the program ends.
import Dispatch
import Foundation

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// Objects in pthread keys without a destructor.
// EXPECT leak kind=unreferenced types=App.ThreadState count=6 at=state
final class ThreadState {
  var depth = 1
}
var key = pthread_key_t()
pthread_key_create(&key, nil)

@inline(never) func enter() {
  let state = ThreadState()  // @state
  pthread_setspecific(key, Unmanaged.passRetained(state).toOpaque())
}
for _ in 0..<6 {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      enter()
      return nil
    }, nil)
  pthread_join(thread, nil)
}

// The argument of a thread is retained for it and never taken.
// EXPECT leak kind=unreferenced types=App.Job count=10 at=job
final class Job {
  var input = [1, 2, 3]
}
@inline(never) func start() -> pthread_t {
  let job = Job()  // @job
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { argument in
      let job = Unmanaged<Job>.fromOpaque(argument!).takeUnretainedValue()
      job.input.append(4)
      return nil
    }, Unmanaged.passRetained(job).toOpaque())
  return thread
}
for _ in 0..<10 { pthread_join(start(), nil) }

// Cycles, made also on idle dispatch workers.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=1000 at=thread
// EXPECT leak kind=retainCycle types=App.Work fields=next count=1000 at=worker
final class Node {
  var next: Node?
}
final class Work {
  var input = 3.5
  var next: Work?
}
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
