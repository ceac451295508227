// The child of a fork dies of a zombie of its parent's; the parent ends with 0.
// EXPECT zombie kind=method|field|retain type=App.Target allocated=make freed=drop used=send
// EXPECT exit 0
import Glibc

class Target {
  var number = 1
  func act() -> Int { number }
}

class Special: Target {
  override func act() -> Int { number + 1 }
}

@_silgen_name("fork") func forkProcess() -> pid_t

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Target> { Unmanaged.passRetained(Target()) }
@inline(never) func drop(_ target: Unmanaged<Target>) {
  target.release()
  done()
}
@inline(never) @_optimize(none) func send(_ target: Unmanaged<Target>) {
  _ = target._withUnsafeGuaranteedRef { $0.act() }
}

let target = make()
drop(target)
let child = forkProcess()
if child == 0 {
  send(target)
  _exit(0)
}
var status: Int32 = 0
waitpid(child, &status, 0)
print(status & 0x7f != 0 ? "the child died" : "the child went on")
