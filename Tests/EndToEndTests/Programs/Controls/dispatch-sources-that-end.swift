// Sources that were cancelled, whose handlers hold their owners weakly, or whose owners are held elsewhere, and work
// that comes back by itself but is stored nowhere.
// EXPECT silent
import Dispatch
import Glibc

final class Heartbeat {
  var beats = 0
  var source: (any DispatchSourceTimer)?
  func start(cancelled: Bool) {
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "heartbeat"))
    if cancelled {
      source.setEventHandler { self.beats += 1 }
      source.setCancelHandler { self.source = nil }
    } else {
      source.setEventHandler { [weak self] in self?.beats += 1 }
    }
    source.schedule(deadline: .now() + .milliseconds(1), repeating: .milliseconds(1))
    source.resume()
    self.source = source
    if cancelled { source.cancel() }
  }
}
final class Reader {
  var bytes = 0
  let source: any DispatchSourceRead
  init(_ file: Int32) {
    source = DispatchSource.makeReadSource(fileDescriptor: file)
    source.setEventHandler { self.bytes += 1 }
    source.resume()
  }
}
// Fires for ever, but is held by nothing of its own: it ends when it no longer asks for more.
final class Chain {
  var rounds = 0
  let queue = DispatchQueue(label: "chain")
  func next() {
    rounds += 1
    queue.asyncAfter(deadline: .now() + .milliseconds(1)) { self.next() }
  }
}
final class Download {
  var done = false
  func begin() {
    let item = DispatchWorkItem { usleep(10) }
    item.notify(queue: .global()) { self.done = true }
    DispatchQueue.global().asyncAfter(deadline: .now() + 500, execute: item)
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
var heartbeats: [Heartbeat] = []
var reader: Reader?
@inline(never) func make() {
  for index in 0..<4 {
    let heartbeat = Heartbeat()
    heartbeat.start(cancelled: index % 2 == 0)
    heartbeats.append(heartbeat)
    Chain().next()
    Download().begin()
  }
  let cancelled = Heartbeat()
  cancelled.start(cancelled: true)
  use(cancelled)
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  reader = Reader(ends[0])
}
make()
usleep(100_000)
print(heartbeats.count)
