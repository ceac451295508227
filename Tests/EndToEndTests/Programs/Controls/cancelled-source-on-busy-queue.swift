// Sources that were cancelled while their queue was busy: nothing fires any more, and libdispatch lets go of the handlers
// as soon as the queue gets round to it.
// EXPECT silent
import Dispatch
import Glibc

final class Monitor {
  var events = 0
  var source: (any DispatchSourceProtocol)?
  func watch(_ source: any DispatchSourceProtocol) {
    source.setEventHandler { self.events += 1 }
    source.resume()
    self.source = source
  }
}

@inline(never) func make(on queue: DispatchQueue) {
  let timed = Monitor()
  let timer = DispatchSource.makeTimerSource(queue: queue)
  timer.schedule(deadline: .now() + .seconds(100), repeating: .seconds(100))
  timed.watch(timer)
  let reading = Monitor()
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  reading.watch(DispatchSource.makeReadSource(fileDescriptor: ends[0], queue: queue))
  usleep(50_000)
  let busy = DispatchSemaphore(value: 0)
  queue.async {
    busy.signal()
    sleep(100)
  }
  busy.wait()
  timed.source?.cancel()
  reading.source?.cancel()
}
let queue = DispatchQueue(label: "busy")
make(on: queue)
usleep(50_000)
exit(0)
