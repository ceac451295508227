// A source that reads from a pipe which stays open; its handler captures the owner.
// EXPECT suspect kind=heldByDispatchSource types=App.Reader count=2 closureAt=closure
import Dispatch
import Glibc

final class Reader {
  var bytes = 0
  let source: any DispatchSourceRead
  init(_ file: Int32) {
    source = DispatchSource.makeReadSource(fileDescriptor: file)
    source.setEventHandler { self.bytes += 1 }  // @closure
    source.resume()
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
var ends: [Int32] = [0, 0]
@inline(never) func open() {
  pipe(&ends)
  use(Reader(ends[0]))
}
open()
open()
usleep(300_000)
