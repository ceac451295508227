// Sleeps, polls and reads return when they should, not earlier, and without EINTR.
// EXPECT silent
import Dispatch
import Foundation

nonisolated(unsafe) var failures: [String] = []
let lock = NSLock()
let group = DispatchGroup()
func check(_ name: String, _ body: @escaping @Sendable () -> Bool) {
  group.enter()
  Thread {
    let start = DispatchTime.now().uptimeNanoseconds
    let fine = body()
    let time = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    if !fine || time < 0.29 { lock.withLock { failures.append("\(name) \(time)") } }
    group.leave()
  }.start()
}
check("usleep") { usleep(300_000) == 0 }
check("poll") { poll(nil, 0, 300) == 0 }
check("nanosleep") {
  var time = timespec(tv_sec: 0, tv_nsec: 300_000_000)
  return nanosleep(&time, nil) == 0
}
check("semaphore") { DispatchSemaphore(value: 0).wait(timeout: .now() + 0.3) == .timedOut }
group.wait()
print(failures)
