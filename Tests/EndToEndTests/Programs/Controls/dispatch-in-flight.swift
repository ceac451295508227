// Queues, groups, semaphores, barriers, delayed blocks, suspended queues, sources and IO in flight at exit.
// EXPECT silent
// HEADER ../Support/waiting.h
import Dispatch
import Foundation

final class Work {
  var input = [Int](repeating: 1, count: 50)
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
let serial = DispatchQueue(label: "serial", target: concurrent)
let suspended = DispatchQueue(label: "suspended")
let group = DispatchGroup()
let started = DispatchSemaphore(value: 0)
var items: [DispatchWorkItem] = []
var sources: [any DispatchSourceTimer] = []

@inline(never) func start() {
  for index in 0..<20 {
    let work = Work()
    concurrent.asyncAfter(deadline: .now() + 500) { use(work) }
    serial.async { use(work) }
    suspended.async { use(work) }
    group.enter()
    group.notify(queue: serial) { use(work) }
    let item = DispatchWorkItem { use(work) }
    item.notify(queue: .global()) { use(work) }
    if index % 2 == 0 {
      items.append(item)
    } else {
      DispatchQueue.global().asyncAfter(deadline: .now() + 400, execute: item)
    }
  }
  for _ in 0..<3 {
    let work = Work()
    DispatchQueue.global().async {
      started.signal()
      sleep(1000)
      use(work)
    }
  }
  let ticking = Work()
  let source = DispatchSource.makeTimerSource(queue: serial)
  source.setEventHandler { use(ticking) }
  source.schedule(deadline: .now(), repeating: .milliseconds(1))
  source.resume()
  sources.append(source)
  let signals = DispatchSource.makeSignalSource(signal: SIGUSR1)
  signals.setEventHandler { use(ticking) }
  signals.resume()
  Service.signals = signals
}
enum Service {
  nonisolated(unsafe) static var signals: (any DispatchSourceSignal)?
}
suspended.suspend()
start()
for _ in 0..<3 { started.wait() }
wait_until_others_sleep()
print(items.count)
exit(0)
