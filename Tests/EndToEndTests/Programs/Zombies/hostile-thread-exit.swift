// The message is sent when a thread ends, by the destructor of its thread-local value.
// EXPECT zombie kind=method|field|retain type=App.Target allocated=make freed=drop used=send
// EXPECT crash
import Foundation

class Target {
  var number = 1
  func act() -> Int { number }
}

class Special: Target {
  override func act() -> Int { number + 1 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Target> { Unmanaged.passRetained(Target()) }
@inline(never) func drop(_ target: Unmanaged<Target>) {
  target.release()
  done()
}
@inline(never) @_optimize(none) func send() {
  _ = target._withUnsafeGuaranteedRef { $0.act() }
}

nonisolated(unsafe) let target = make()
nonisolated(unsafe) var key = pthread_key_t()
pthread_key_create(&key) { _ in send() }
drop(target)
let thread = Thread { pthread_setspecific(key, UnsafeRawPointer(bitPattern: 1)) }
thread.start()
sleep(10)
