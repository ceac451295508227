// Sources of every kind; each handler captures the owner of the source. What fires belongs to libdispatch, even if that and the runtime
// are linked statically. A timer that fires all the time is in a queue, or was just called, when the program ends.
// EXPECT suspect kind=heldByDispatchSource types=App.Writer count=2 closureAt=writer
// EXPECT suspect kind=heldByDispatchSource types=App.Signals count=2 closureAt=signals
// EXPECT suspect kind=heldByDispatchSource types=App.Reader count=2 closureAt=reader
// EXPECT suspect kind=heldByDispatchSource types=App.Ticker count=2 closureAt=ticker
// EXPECT suspect kind=heldByDispatchSource types=App.Cancelling count=2 closureAt=cancelling
// EXPECT suspect kind=heldByDispatchSource types=App.Heartbeat count=3 closureAt=beat
// EXPECT suspect kind=heldByTask types=App.Poller count=2
// CASE dispatch-sources
// CASE static-stdlib-sources
// FLAGS -static-stdlib
// CASE dispatch-timer-firing-fast
// FLAGS -D FAST
import Dispatch
import Glibc

final class Writer {
  var bytes = 0
  let source: any DispatchSourceWrite
  init(_ file: Int32) {
    source = DispatchSource.makeWriteSource(fileDescriptor: file, queue: .global())
    source.setEventHandler { self.bytes -= 7 }  // @writer
    source.resume()
  }
}
final class Signals {
  var count = 0
  let source = DispatchSource.makeSignalSource(signal: SIGUSR2)
  init() {
    source.setEventHandler { self.count += 3 }  // @signals
    source.resume()
  }
}
final class Reader {
  var bytes = 0
  var sources: [any DispatchSourceRead] = []
  init(_ file: Int32) {
    let source = DispatchSource.makeReadSource(fileDescriptor: file, queue: DispatchQueue(label: "reader"))
    source.setEventHandler { self.bytes += 5 }  // @reader
    source.activate()
    sources.append(source)
  }
}
final class Ticker {
  var ticks = 0
  let queue = DispatchQueue(label: "ticker")
  let source: any DispatchSourceTimer
  init(_ step: Int) {
    source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    source.setEventHandler { self.ticks += step }  // @ticker
    source.schedule(deadline: .now() + 500, repeating: 500)
    source.resume()
  }
}
final class Cancelling {
  var ended = false
  let source = DispatchSource.makeTimerSource()
  init() {
    source.setEventHandler {}
    source.setCancelHandler { self.ended = true }  // @cancelling
    source.schedule(wallDeadline: .now() + 500, repeating: 500)
    source.resume()
  }
}
final class Heartbeat {
  var beats = 0
  let source = DispatchSource.makeTimerSource()
  func start() {
    source.setEventHandler { self.beats += 2 }  // @beat
    #if FAST
      source.schedule(deadline: .now(), repeating: .microseconds(200))
    #else
      source.schedule(deadline: .now() + 500, repeating: 500)
    #endif
    source.resume()
  }
  deinit { source.cancel() }
}
final class Poller: @unchecked Sendable {
  var polls = 0
  var task: Task<Void, Never>?
  func start() {
    task = Task.detached {
      while !Task.isCancelled {
        self.polls += 1
        try? await Task.sleep(for: .seconds(600))
      }
    }
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func beat() {
  let heartbeat = Heartbeat()
  heartbeat.start()
  use(heartbeat)
}
@inline(never) func openPipe() -> (Int32, Int32) {
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  return (ends[0], ends[1])
}
@inline(never) func make() {
  let (read, write) = openPipe()
  // A full pipe never becomes writable.
  let bytes = [UInt8](repeating: 0, count: 4096)
  _ = fcntl(write, F_SETFL, O_NONBLOCK)
  while Glibc.write(write, bytes, bytes.count) > 0 {}
  use(Writer(write))
  let other = openPipe()
  use(Reader(other.0))
  use(Signals())
  use(Ticker(read < 0 ? 2 : 1))
  use(Cancelling())
  Poller().start()
}
signal(SIGUSR2, SIG_IGN)
for _ in 0..<3 { beat() }
make()
make()
usleep(300_000)
