// The message is sent inside of a signal handler.
// EXPECT zombie kind=method|field|retain type=App.Target allocated=make freed=drop used=send
// EXPECT crash
import Glibc

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
drop(target)
signal(SIGUSR1) { _ in send() }
raise(SIGUSR1)
print("not reached")
