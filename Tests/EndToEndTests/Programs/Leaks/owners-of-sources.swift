// Handlers that capture their owners: of a timer, and of a source that reads from a pipe which stays open. What fires belongs to
// libdispatch, even if that and the runtime are linked statically.
// EXPECT suspect kind=heldByDispatchSource types=App.Heartbeat count=3 closureAt=beat
// EXPECT suspect kind=heldByDispatchSource types=App.Reader count=2 closureAt=read
// EXPECT suspect kind=heldByTask types=App.Poller count=2
// CASE dispatch-read-source
// CASE static-stdlib-sources
// FLAGS -static-stdlib
import Dispatch
import Glibc

final class Heartbeat {
  var beats = 0
  let source = DispatchSource.makeTimerSource()
  func start() {
    source.setEventHandler { self.beats += 2 }  // @beat
    source.schedule(deadline: .now() + 500, repeating: 500)
    source.resume()
  }
}
final class Reader {
  var bytes = 0
  let source: any DispatchSourceRead
  init(_ file: Int32) {
    source = DispatchSource.makeReadSource(fileDescriptor: file)
    source.setEventHandler { self.bytes += 1 }  // @read
    source.resume()
  }
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
@inline(never) func open() {
  var ends: [Int32] = [0, 0]
  pipe(&ends)
  use(Reader(ends[0]))
  Poller().start()
}
for _ in 0..<3 { beat() }
for _ in 0..<2 { open() }
usleep(300_000)
