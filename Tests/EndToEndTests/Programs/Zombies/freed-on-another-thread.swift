// The thread that freed the object is named.
// EXPECT zombie kind=method|field type=App.Poller freedOn=worker thread=* allocated=make freed=drop used=poll
// EXPECT crash
import Foundation

class Poller: @unchecked Sendable {
  var count = 1
  func tick() -> Int { count + 41 }
}

struct Shared: @unchecked Sendable {
  var poller: Unmanaged<Poller>
}

@_silgen_name("pthread_setname_np") func nameThread(_ thread: pthread_t, _ name: UnsafePointer<CChar>) -> Int32

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Shared { Shared(poller: .passRetained(Poller())) }
@inline(never) func drop(_ shared: Shared) {
  shared.poller.release()
  done()
}
@inline(never) @_optimize(none) func poll(_ shared: Shared) {
  print(shared.poller._withUnsafeGuaranteedRef { $0.tick() })
}

let shared = make()
let ended = DispatchSemaphore(value: 0)
let thread = Thread {
  _ = nameThread(pthread_self(), "worker")
  drop(shared)
  ended.signal()
}
thread.start()
ended.wait()
poll(shared)
