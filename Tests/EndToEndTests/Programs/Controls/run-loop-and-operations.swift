// Operation queues with work waiting, run loops on threads, performs.
// EXPECT silent
import Foundation

final class Job: Operation, @unchecked Sendable {
  var input = [1, 2, 3]
  override func main() {
    while input.count == 3 && !isCancelled { usleep(1000) }
  }
}
let queue = OperationQueue()
queue.maxConcurrentOperationCount = 2
let suspended = OperationQueue()
suspended.isSuspended = true

@inline(never) func fill() {
  for index in 0..<10 {
    let job = Job()
    if index % 3 == 0 { job.completionBlock = { [weak job] in print(job?.input.count ?? 0) } }
    queue.addOperation(job)
    let input = [index, index]
    suspended.addOperation { print(input) }
    suspended.addBarrierBlock { print(input) }
  }
}
fill()
let ready = DispatchSemaphore(value: 0)
let thread = Thread {
  let port = RunLoop.current
  port.perform { ready.signal() }
  Timer.scheduledTimer(withTimeInterval: 0.005, repeats: true) { timer in
    if ProcessInfo.processInfo.environment["NEVER"] != nil { timer.fire() }
  }
  port.run()
}
thread.start()
ready.wait()
usleep(50_000)
print("running", queue.operationCount > 0)
exit(0)
